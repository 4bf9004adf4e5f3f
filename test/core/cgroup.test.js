'use strict'

const t = require('tap')
const { findHierarchy, readLimit, readFigure, readPressure, readQuota } = require('../../lib/core/cgroup')

const V2_MOUNT = '30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n'
const V1_MOUNTS = [
  '31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755',
  '32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct',
  '35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory',
  '41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw', ''
].join('\n')

t.test('the folders are the own cgroup and those above it, below what is mounted', async t => {
  const folders = (/** @type {string} */ cgroups, /** @type {string} */ mounts) => findHierarchy('memory', cgroups, mounts)?.folders
  t.same(folders('0::/a/b', V2_MOUNT), ['/sys/fs/cgroup/a/b', '/sys/fs/cgroup/a', '/sys/fs/cgroup'])
  t.same(folders('0::/a/b/c', V2_MOUNT.replace(' / ', ' /a/b ')), ['/sys/fs/cgroup/c', '/sys/fs/cgroup'])
  t.same(folders('0::/a/b', V2_MOUNT.replace(' / ', ' /a/b ')), ['/sys/fs/cgroup'], 'its root is the own one')
  t.same(folders('0::/a/bc', V2_MOUNT.replace(' / ', ' /a/b ')), ['/sys/fs/cgroup'], 'another cgroup whose name begins alike')
  t.same(folders('0::/abc/d', V2_MOUNT.replace(' / ', ' /x/y ')), ['/sys/fs/cgroup'], 'another cgroup')
  t.same(folders('0::/../b', V2_MOUNT), ['/sys/fs/cgroup'], 'outside of the namespace')
  t.same(folders('0::/a', V2_MOUNT.replace('/sys/fs/cgroup', '/with\\040space')), ['/with space/a', '/with space'])
  t.equal(findHierarchy('memory', '0::/a', ''), null)
  t.equal(findHierarchy('memory', '', V2_MOUNT), null)
})

t.test('a controller is that of version 1 where that has it, else of version 2', async t => {
  const cgroups = '9:memory:/m\n3:cpu,cpuacct:/c\n0::/u\n'
  t.same(findHierarchy('memory', cgroups, V1_MOUNTS), { version: 1, folders: ['/sys/fs/cgroup/memory/m', '/sys/fs/cgroup/memory'] })
  t.same(findHierarchy('cpu', cgroups, V1_MOUNTS), { version: 1, folders: ['/sys/fs/cgroup/cpu,cpuacct/c', '/sys/fs/cgroup/cpu,cpuacct'] })
  t.same(findHierarchy('pids', cgroups, V1_MOUNTS), { version: 2, folders: ['/sys/fs/cgroup/unified/u', '/sys/fs/cgroup/unified'] })
  t.equal(findHierarchy('memory', cgroups, V2_MOUNT), null, 'it is not mounted')
  t.equal(findHierarchy('memory', '9:memory:/m\n', V1_MOUNTS.replace('- cgroup cgroup rw,memory', '- tmpfs tmpfs rw,memory')), null)
})

t.test('a limit is a number below the largest that version 1 has; max is none', async t => {
  t.same(['1048576\n', '0\n', 'max\n', '9223372036854771712\n', '', ' \n', null].map(readLimit), [1048576, 0, null, null, null, null, null])
  t.equal(readLimit(String(2 ** 62)), null)
  t.equal(readLimit(String(2 ** 62 - 1024)), 2 ** 62 - 1024)
})

t.test('counters are read by name, with a colon or without', async t => {
  const text = 'oom_kill 3\nMemTotal:   8 kB\nbad\nbad_kill x\n'
  t.same(['oom_kill', 'MemTotal', 'kill', 'oom', 'bad', 'bad_kill'].map(name => readFigure(text, name)), [3, 8, null, null, null, null])
  t.equal(readFigure(null, 'oom_kill'), null)
})

t.test('pressure is a share of the last ten seconds; not known unless both lines are there', async t => {
  const [some, full] = ['some avg10=12.00 avg60=1.00 avg300=0.00 total=1\n', 'full avg10=3.00 avg60=0.00 avg300=0.00 total=1\n']
  t.same(readPressure(some + full), { some: 0.12, full: 0.03 })
  t.same([some, full, '', null].map(readPressure), [null, null, null, null])
})

t.test('a quota is in CPUs, of one file or of two', async t => {
  t.equal(readQuota('150000 100000\n'), 1.5)
  t.equal(readQuota('50000\n', '100000\n'), 0.5)
  t.equal(readQuota('1 4'), 0.25)
  t.equal(readQuota('4 1'), 4)
  for (const none of ['max 100000\n', '-1', '0 100000', '100000', '100000 0', '100000 -1', 'x', '', '1e308 1e-308', '1 Infinity', '-1 -1', null]) t.equal(readQuota(none), null, String(none))
})
