/** The app is built in a folder inside another project: its root is this one. */
const root = import.meta.dirname

export default { output: 'standalone', outputFileTracingRoot: root, turbopack: { root } }
