'use strict'

const t = require('tap')
const { distrust } = require('../../lib/core/folder-trust')

/** @param {any} how */
const stat = ({ link = false, folder = true, uid = 1, mode = 0o40700 } = {}) => ({
  isSymbolicLink: () => link, isDirectory: () => folder, uid, mode
})

t.test('a folder of this user that others cannot write to is safe', async t => {
  t.equal(distrust('/f', stat(), 1), null)
  t.equal(distrust('/f', stat({ mode: 0o40755 }), 1), null, 'others may read')
})

t.test('any other is not, and the reason is told', async t => {
  t.match(distrust('/f', stat({ link: true }), 1), /symbolic link/)
  t.match(distrust('/f', stat({ folder: false }), 1), /not a folder/)
  t.match(distrust('/f', stat(), 2), /another user \(uid 1\)/)
  t.match(distrust('/f', stat({ mode: 0o40720 }), 1), /write to \/f \(mode 720\)/)
  t.match(distrust('/f', stat({ mode: 0o40702 }), 1), /mode 702/)
})
