'use strict'

/**
 * `--health`: what a probe found, and when the next is due. Period, timeout, failure threshold and initial delay are
 * those of a probe in Kubernetes. A worker that boots is probed more often, so that it becomes ready soon after it can.
 *
 * @typedef {object} Found by one probe
 * @property {number | null} status of the response; null: there was none
 * @property {string | null} why there was none
 * @property {boolean} [isSkipped] the probe could not be made, which says nothing about the worker
 */

const BOOT_PERIOD_MS = 250

/** As a probe in Kubernetes: a redirect is a success. @param {Found} found */
function isHealthy ({ status }) {
  return status !== null && status >= 200 && status < 400
}

/** @param {Found} found @param {string} path @returns {string} the failure, in words */
function failureOf ({ status, why }, path) {
  return `GET ${path}: ${status === null ? why : `status ${status}`}`
}

/** @param {number} failures in a row before @param {Found} found @returns {number} failures in a row */
function countFailures (failures, found) {
  if (found.isSkipped) return failures
  return isHealthy(found) ? 0 : failures + 1
}

/**
 * @param {boolean} isUp it has passed a probe @param {number} periodMs
 * @returns {number} ms from the begin of a probe to that of the next
 */
function nextProbeMs (isUp, periodMs) {
  return isUp ? periodMs : Math.min(BOOT_PERIOD_MS, periodMs)
}

module.exports = { isHealthy, failureOf, countFailures, nextProbeMs }
