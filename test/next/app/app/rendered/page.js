import { createElement } from 'react'
import { headers } from 'next/headers'

/** Rendered for each request. */
export default async function Rendered () {
  return createElement('p', null, `rendered by ${process.pid} for ${(await headers()).get('host')}`)
}
