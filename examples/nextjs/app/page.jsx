import { headers } from "next/headers"
import Link from "next/link"
import { ask } from "../session.js"
import { Visitor } from "./visitor.jsx"

// Page is a server component: its session is in the HTML.
export default async function Page() {
  const { session } = await ask((await headers()).get("cookie"))
  return (
    <>
      <p id="server">{session ? `The server says ${session.user.name}.` : "The server says nobody."}</p>
      <Visitor />
      <Link href="/account">Your account</Link> <Link href="/team">The team</Link>
    </>
  )
}
