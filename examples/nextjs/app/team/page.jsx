import { headers } from "next/headers"
import { ask } from "../../session.js"

// Team is behind the middleware, and asks again: a server component decides for itself.
export default async function Team() {
  const { session } = await ask((await headers()).get("cookie"))
  return <p id="team">{session ? `The team of ${session.user.name}` : "Nobody's team"}</p>
}
