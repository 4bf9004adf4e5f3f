'use strict'

const t = require('tap')
const { watchClock } = require('../../lib/primary/clock')
const { Output } = require('../../lib/primary/output')

/** An output whose reader reads when it is told to. */
function unread () {
  /** @type {{ bytes: Buffer, done: (error: any) => void }[]} */
  const waiting = []
  const descriptor = {
    mostBytes: 4096,
    write: (/** @type {Buffer} */ bytes, /** @type {any} */ done) => { waiting.push({ bytes, done }) },
    close () {}
  }
  const output = new Output(() => descriptor)
  /** @type {Buffer[]} */
  const got = []
  const read = (/** @type {any} */ error = null) => {
    const next = waiting.shift()
    if (!next) return false
    if (error === null) got.push(next.bytes)
    next.done(error)
    return true
  }
  const readAll = async (/** @type {any} */ error = null) => {
    const at = { isEmpty: false }
    output.emptied().then(() => { at.isEmpty = true })
    while (!at.isEmpty) {
      read(error)
      await new Promise(resolve => setImmediate(resolve))
    }
  }
  return { output, read, readAll, text: () => Buffer.concat(got).toString(), got }
}

t.test('a log that is not read keeps its newest lines, says at once that lines are lost, and later how many', async t => {
  const { output, readAll, text } = unread()
  /** @type {any[]} */
  const said = []
  output.on('losing', why => said.push(why)).on('lost', lost => said.push(lost))
  const line = (/** @type {number} */ n) => `${n} ${'x'.repeat(1000)}\n`
  for (let n = 0; n < 5000; n++) output.log(line(n))
  t.same(said, ['it is not read'])
  await readAll()
  const numbers = text().trim().split('\n').map(line => Number(line.split(' ')[0]))
  t.equal(numbers[0], 0, 'the one that was being written')
  t.equal(numbers.at(-1), 4999)
  t.ok(numbers.length > 1000, `${numbers.length} were kept`)
  t.same(said, ['it is not read', 5000 - numbers.length])
  output.log(line(5000))
  await readAll()
  t.match(text(), /5000 x+\n$/)
  t.equal(said.length, 2)
})

t.test('lines of workers are never dropped: the output is full, and says when there is room', async t => {
  const { output, readAll, text } = unread()
  const source = {}
  const lines = Buffer.from(`${'x'.repeat(999)}\n`.repeat(100))
  let passed = 0
  for (; !output.isFull; passed++) output.pass(lines, source)
  for (let n = 0; n < 3000; n++) output.log(`${'y'.repeat(999)}\n`)
  t.ok(passed < 10, `${passed} × 100 kB and it is full`)
  let hasRoom = false
  output.once('room', () => { hasRoom = true })
  await readAll()
  t.ok(hasRoom)
  t.equal(text().split('\n').filter(line => line[0] === 'x').length, passed * 100)
  t.notOk(text().split('\n').some(line => /xy|yx/.test(line)))
})

t.test('writes end with a line, and are of at most 4 KiB unless a line is longer', async t => {
  const { output, readAll, got } = unread()
  output.pass(Buffer.from(`${'x'.repeat(99)}\n`.repeat(200) + `${'z'.repeat(9000)}\n` + 'a\n'.repeat(10)), {})
  await readAll()
  for (const bytes of got) {
    t.equal(bytes.at(-1), 10)
    t.ok(bytes.length <= 4096 || bytes.includes('z'.repeat(9000)), `${bytes.length}`)
  }
})

t.test('a line that has not ended is ended when a line of another follows, and goes on where none does', async t => {
  const { output, readAll, text } = unread()
  const [one, two] = [{}, {}]
  for (const part of ['a', 'b', 'c\n', 'half']) output.pass(Buffer.from(part), one, '[1] ')
  output.pass(Buffer.from('whole\n'), two, '[2] ')
  output.pass(Buffer.from('rest'), one, '[1] ')
  output.log('log\n')
  await readAll()
  t.equal(text(), '[1] abc\n[1] half\n[2] whole\n[1] rest\nlog\n')
})

t.test('a disk that is full loses lines and says so; without a reader all is thrown away, and no source waits', async t => {
  const { output, read, readAll, text } = unread()
  /** @type {any[]} */
  const said = []
  output.on('losing', (why, hasFailed) => said.push(why, hasFailed)).on('lost', lost => said.push(lost))
  output.log('a\n')
  output.pass(Buffer.from('b\nc\n'), {})
  await readAll(Object.assign(new Error('ENOSPC: no space'), { code: 'ENOSPC' }))
  output.log('d\n')
  await readAll()
  t.equal(text(), 'd\n')
  t.same(said, ['ENOSPC', true, 3])

  output.pass(Buffer.alloc(1024 ** 2, 'x\n'), {})
  t.ok(output.isFull)
  read(Object.assign(new Error('EPIPE'), { code: 'EPIPE' }))
  t.ok(output.isGone)
  t.notOk(output.isFull)
  await output.emptied()
  output.log('e\n')
  output.pass(Buffer.alloc(1024 ** 2, 'x\n'), {})
  t.notOk(output.isFull)
  t.same(said.slice(3), ['EPIPE', true])
})

t.test('the clock, which is read for a write, may tell of a sleep by a line of its own', async t => {
  const { output, readAll, text } = unread()
  const end = watchClock(2, () => output.log('slept\n'))
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600)
  output.log('a\n')
  end()
  await readAll()
  t.same(text().split('\n').sort(), ['', 'a', 'slept'])
})
