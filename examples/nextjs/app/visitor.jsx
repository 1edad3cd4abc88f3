"use client"

import { useRouter } from "next/navigation"
import { signIn, signOut, useSession } from "next-auth/react"
import { useState } from "react"

export function Visitor() {
  const { data: session, update } = useSession()
  const router = useRouter()
  const [problem, setProblem] = useState("")

  async function enter(event) {
    event.preventDefault()
    const fields = Object.fromEntries(new FormData(event.target))
    const { error } = await signIn("credentials", { ...fields, redirect: false })
    setProblem(error ? "That name and password do not go together." : "")
    if (error) return
    await update() // useSession
    router.refresh() // server components
  }

  async function rename(event) {
    event.preventDefault()
    await update({ name: new FormData(event.target).get("name") })
    router.refresh()
  }

  if (session) {
    return (
      <>
        <p id="who">Hello, {session.user.name}</p>
        <form id="rename" method="post" onSubmit={rename}>
          <input name="name" aria-label="New name" required />
          <button>Change my name</button>
        </form>
        <button id="out" onClick={() => signOut()}>
          Sign out
        </button>
      </>
    )
  }
  return (
    <>
      <p id="who">Nobody is signed in.</p>
      <form id="in" method="post" action="/api/auth/callback/credentials" onSubmit={enter}>
        <input name="name" aria-label="Name" autoComplete="username" required />
        <input name="password" type="password" aria-label="Password" autoComplete="current-password" required />
        <button>Sign in</button>
        <p role="alert">{problem}</p>
      </form>
      <button id="in-acme" onClick={() => signIn("acme")}>
        Sign in with Acme
      </button>
    </>
  )
}
