import { createElement } from 'react'

export default function Page () {
  return createElement('p', null, 'a page that the build has rendered')
}
