'use strict'

/**
 * Whether other users could put files into a folder. Nothing that must be this user's own is opened or written there
 * then.
 * @param {string} folder
 * @param {Pick<import('node:fs').Stats, 'isSymbolicLink' | 'isDirectory' | 'uid' | 'mode'>} stat by lstat()
 * @param {number} uid this user's @returns {string | null} why the folder is not safe; null: it is
 */
function distrust (folder, stat, uid) {
  if (stat.isSymbolicLink()) return `${folder} is a symbolic link`
  if (!stat.isDirectory()) return `${folder} is not a folder`
  if (stat.uid !== uid) return `${folder} belongs to another user (uid ${stat.uid})`
  return (stat.mode & 0o022) === 0
    ? null
    : `other users may write to ${folder} (mode ${(stat.mode & 0o777).toString(8)})`
}

module.exports = { distrust }
