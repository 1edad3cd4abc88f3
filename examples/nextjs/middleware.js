import { NextResponse } from "next/server"
import { ask } from "./session.js"

export const config = { matcher: "/team/:path*" }

// middleware keeps pages for users, and passes the renewed cookies on, which a server component cannot.
export async function middleware(request) {
  const { session, cookies } = await ask(request.headers.get("cookie"))
  const response = session ? NextResponse.next() : toSignIn(request)
  for (const cookie of cookies) response.headers.append("set-cookie", cookie)
  return response
}

function toSignIn({ nextUrl }) {
  const url = new URL("/api/auth/signin", nextUrl)
  url.searchParams.set("callbackUrl", nextUrl.pathname + nextUrl.search)
  return NextResponse.redirect(url)
}
