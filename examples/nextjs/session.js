// ask is `auth()`: it asks the Go program for the session of these cookies.
export async function ask(cookie) {
  if (!cookie) return { session: null, cookies: [] }
  const answer = await fetch(`${process.env.AUTH_SERVER}/api/auth/session`, { headers: { cookie }, cache: "no-store" })
  if (!answer.ok) throw new Error(`the session: status ${answer.status}`) // nobody is signed out by that
  return { session: await answer.json(), cookies: answer.headers.getSetCookie() }
}
