// Who is signed in, for scripts.
import { getSession } from "auth-astro/server"

export async function GET({ request }) {
  const session = await getSession(request)
  if (!session?.user) return new Response("Unauthorized", { status: 401 })
  const { id, name, email } = session.user
  return Response.json({ id, name, email })
}
