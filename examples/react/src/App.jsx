import { getProviders, getSession, signIn, signOut, useSession } from "next-auth/react"
import { useEffect, useState } from "react"

export function App() {
  const { data: session, status } = useSession()
  if (!session) return status === "loading" ? <p id="who">…</p> : <SignIn />
  return (
    <>
      <p id="who">Hello, {session.user.name}</p>
      <Rename />
      <Notes />
      <button id="out" onClick={() => signOut({ redirect: false })}>
        Sign out
      </button>
    </>
  )
}

function SignIn() {
  const [problem, setProblem] = useState("")
  const [others, setOthers] = useState([])
  useEffect(() => {
    getProviders().then((all) => setOthers(Object.values(all ?? {}).filter(({ type }) => type !== "credentials")))
  }, [])

  async function submit(event) {
    event.preventDefault()
    const fields = Object.fromEntries(new FormData(event.target))
    const { error } = await signIn("credentials", { ...fields, redirect: false })
    if (error) setProblem("That name and password do not go together.")
    else getSession() // tells the other tabs, which signIn without a redirect does not
  }

  return (
    <>
      <p id="who">Nobody is signed in.</p>
      <form id="in" method="post" action="/api/auth/callback/credentials" onSubmit={submit}>
        <input name="name" aria-label="Name" autoComplete="username" required />
        <input name="password" type="password" aria-label="Password" autoComplete="current-password" required />
        <button>Sign in</button>
        <p role="alert">{problem}</p>
      </form>
      {others.map(({ id, name }) => (
        <button key={id} id={`in-${id}`} onClick={() => signIn(id)}>
          Sign in with {name}
        </button>
      ))}
    </>
  )
}

function Rename() {
  const { update } = useSession()

  function submit(event) {
    event.preventDefault()
    update({ name: new FormData(event.target).get("name") })
  }

  return (
    <form id="rename" method="post" onSubmit={submit}>
      <input name="name" aria-label="New name" required />
      <button>Change my name</button>
    </form>
  )
}

// Notes come from the API of the Go program, which knows the same session.
function Notes() {
  const [text, setText] = useState("…")
  useEffect(() => {
    fetch("/api/notes")
      .then((answer) => (answer.ok ? answer.json() : { text: `status ${answer.status}` }))
      .then(({ text }) => setText(text))
  }, [])
  return <p id="notes">{text}</p>
}
