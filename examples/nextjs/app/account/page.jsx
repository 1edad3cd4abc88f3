"use client"

import { useSession } from "next-auth/react"

// Account sends a visitor who is not signed in to the sign-in page, and back here.
export default function Account() {
  const { data: session, status } = useSession({ required: true })
  return <p id="account">{status === "loading" ? "…" : `The account of ${session.user.name}`}</p>
}
