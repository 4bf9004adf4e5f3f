'use strict'

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { Container } = require('../../../lib/primary/measuring/container')

const MIB = 1024 ** 2
const PROC = {
  meminfo: 'MemTotal:        8388608 kB\nMemFree:          100000 kB\nMemAvailable:    6291456 kB\n',
  vmstat: 'pgfault 123\noom_kill 3\n',
  'pressure/memory': 'some avg10=1.50 avg60=0.20 avg300=0.00 total=99\nfull avg10=0.50 avg60=0.00 avg300=0.00 total=9\n'
}
const V2_MOUNT = '30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n'
const V1_MOUNTS = [
  '31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755',
  '32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct',
  '35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory',
  '41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw', ''
].join('\n')
const V1_UNLIMITED = '9223372036854771712\n'

/** @param {any} t @param {Record<string, string>} files by path @returns {string} the root */
function tree (t, files) {
  const root = t.testdir()
  for (const [name, text] of Object.entries({ ...Object.fromEntries(Object.entries(PROC).map(([name, text]) => [`proc/${name}`, text])), ...files })) {
    fs.mkdirSync(path.join(root, path.dirname(name)), { recursive: true })
    fs.writeFileSync(path.join(root, name), text)
  }
  return root
}

/** The files of one cgroup. @param {string} folder @param {Record<string, string>} files */
const cgroup = (folder, files) => Object.fromEntries(Object.entries(files).map(([name, text]) => [`sys/fs/cgroup/${folder}/${name}`, text]))

t.test('version 2 in a container of its own namespace: limit, use without droppable pages, pressure, events, quota', async t => {
  const container = new Container(tree(t, {
    'proc/self/cgroup': '0::/\n',
    'proc/self/mountinfo': V2_MOUNT,
    ...cgroup('', {
      'memory.max': `${512 * MIB}\n`,
      'memory.high': 'max\n',
      'memory.current': `${300 * MIB}\n`,
      'memory.stat': `anon 200\nfile 100\ninactive_file ${50 * MIB}\nactive_file 1\n`,
      'memory.events': 'low 0\nhigh 0\nmax 17\noom 2\noom_kill 1\noom_group_kill 0\n',
      'memory.pressure': 'some avg10=12.00 avg60=1.00 avg300=0.00 total=1\nfull avg10=3.00 avg60=0.00 avg300=0.00 total=1\n',
      'cpu.max': '150000 100000\n'
    })
  }))
  t.same(container.limits(), { limitBytes: 512 * MIB, source: 'cgroup v2', quotaCpus: 1.5 })
  t.same(container.readMemory(), { source: 'cgroup v2', limitBytes: 512 * MIB, usedBytes: 250 * MIB, pressure: { some: 0.12, full: 0.03 }, limitHits: 17, oomKills: 1 })
})

t.test('version 2, nested: the lowest limit above the process holds, and its use is what counts', async t => {
  const unit = 'system.slice/shop.service'
  const container = new Container(tree(t, {
    'proc/self/cgroup': `0::/${unit}\n`,
    'proc/self/mountinfo': V2_MOUNT,
    ...cgroup('system.slice', { 'memory.max': `${1024 * MIB}\n`, 'memory.high': `${900 * MIB}\n`, 'memory.current': `${700 * MIB}\n`, 'memory.events': 'max 4\noom_kill 5\n', 'cpu.max': '200000 100000\n' }),
    ...cgroup(unit, { 'memory.max': `${2048 * MIB}\n`, 'memory.high': 'max\n', 'memory.current': `${100 * MIB}\n`, 'memory.events': 'max 0\noom_kill 0\n', 'cpu.max': 'max 100000\n' })
  }))
  t.same(container.limits(), { limitBytes: 900 * MIB, source: 'cgroup v2', quotaCpus: 2 }, 'memory.high slows a process down: it is a limit too')
  t.match(container.readMemory(), { usedBytes: 700 * MIB, limitHits: 4, oomKills: 0 }, "kills are of the process's own cgroup")
})

t.test('version 2 with max everywhere: the memory of the machine', async t => {
  const container = new Container(tree(t, {
    'proc/self/cgroup': '0::/user.slice/a\n', 'proc/self/mountinfo': V2_MOUNT, ...cgroup('user.slice/a', { 'memory.max': 'max\n', 'memory.high': 'max\n', 'memory.events': 'max 0\noom_kill 2\n', 'cpu.max': 'max 100000\n' })
  }))
  t.same(container.limits(), { limitBytes: 8192 * MIB, source: 'machine', quotaCpus: null })
  t.same(container.readMemory(), { source: 'machine', limitBytes: 8192 * MIB, usedBytes: 2048 * MIB, pressure: { some: 0.015, full: 0.005 }, limitHits: null, oomKills: 2 })
})

t.test('version 1, as Docker mounts it: the own cgroup is the root of what is mounted', async t => {
  const container = new Container(tree(t, {
    'proc/self/cgroup': '9:memory:/docker/4f2a\n3:cpu,cpuacct:/docker/4f2a\n0::/docker/4f2a\n',
    'proc/self/mountinfo': V1_MOUNTS.replaceAll(' / /sys/fs/cgroup/', ' /docker/4f2a /sys/fs/cgroup/'),
    ...cgroup('memory', {
      'memory.limit_in_bytes': `${256 * MIB}\n`,
      'memory.usage_in_bytes': `${200 * MIB}\n`,
      'memory.stat': `cache 1\ninactive_file 1\nhierarchical_memory_limit ${256 * MIB}\ntotal_inactive_file ${20 * MIB}\n`,
      'memory.failcnt': '78\n',
      'memory.oom_control': 'oom_kill_disable 0\nunder_oom 0\noom_kill 6\n'
    }),
    ...cgroup('cpu,cpuacct', { 'cpu.cfs_quota_us': '50000\n', 'cpu.cfs_period_us': '100000\n' })
  }))
  t.same(container.limits(), { limitBytes: 256 * MIB, source: 'cgroup v1', quotaCpus: 0.5 })
  t.same(container.readMemory(), { source: 'cgroup v1', limitBytes: 256 * MIB, usedBytes: 180 * MIB, pressure: { some: 0.015, full: 0.005 }, limitHits: 78, oomKills: 6 })
})

t.test('version 1, nested: the limit of a cgroup above, of which only memory.stat tells', async t => {
  const files = (/** @type {string} */ hierarchical) => ({
    'proc/self/cgroup': '4:memory:/kubepods/pod1/c1\n1:cpu,cpuacct:/\n0::/\n',
    'proc/self/mountinfo': V1_MOUNTS,
    ...cgroup('memory/kubepods/pod1/c1', { 'memory.limit_in_bytes': V1_UNLIMITED, 'memory.usage_in_bytes': '5\n', 'memory.stat': `hierarchical_memory_limit ${hierarchical}\n` }),
    ...cgroup('memory', { 'memory.limit_in_bytes': V1_UNLIMITED }),
    ...cgroup('cpu,cpuacct', { 'cpu.cfs_quota_us': '-1\n', 'cpu.cfs_period_us': '100000\n' })
  })
  t.same(new Container(tree(t, files(String(700 * MIB)))).limits(), { limitBytes: 700 * MIB, source: 'cgroup v1', quotaCpus: null })
  t.match(new Container(tree(t, files(V1_UNLIMITED))).limits(), { source: 'machine' })
})

t.test('a limit above the memory of the machine is none', async t => {
  const container = new Container(tree(t, { 'proc/self/cgroup': '0::/\n', 'proc/self/mountinfo': V2_MOUNT, ...cgroup('', { 'memory.max': `${1024 ** 2 * MIB}\n` }) }))
  t.match(container.limits(), { limitBytes: 8192 * MIB, source: 'machine' })
})

t.test('without cgroups the machine is read; without /proc only its size is known', async t => {
  t.match(new Container(tree(t, {})).readMemory(), { source: 'machine', usedBytes: 2048 * MIB, oomKills: 3 })
  const bare = new Container(t.testdir())
  t.match(bare.limits(), { limitBytes: Number, source: 'machine', quotaCpus: null })
  t.ok(bare.limits().limitBytes > 0)
  t.equal(bare.readMemory(), null)
})

t.test('a limit that is changed while the process runs is found', async t => {
  const root = tree(t, { 'proc/self/cgroup': '0::/\n', 'proc/self/mountinfo': V2_MOUNT, ...cgroup('', { 'memory.max': `${512 * MIB}\n`, 'memory.current': '1\n' }) })
  const container = new Container(root)
  fs.writeFileSync(path.join(root, 'sys/fs/cgroup/memory.max'), `${768 * MIB}\n`)
  const limits = Array.from({ length: 10 }, () => container.readMemory()?.limitBytes)
  t.same([limits[0], limits[9]], [512 * MIB, 768 * MIB])
})

t.test('this process has a limit and uses memory', { skip: !fs.existsSync('/proc/meminfo') && 'needs /proc' }, async t => {
  const reading = new Container().readMemory()
  t.match(reading, { limitBytes: Number, usedBytes: Number })
  t.ok(Number(reading?.usedBytes) > MIB && Number(reading?.usedBytes) < Number(reading?.limitBytes))
})
