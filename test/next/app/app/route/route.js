export const dynamic = 'force-dynamic'

export function GET () {
  return Response.json({ pid: process.pid, random: crypto.randomUUID() })
}
