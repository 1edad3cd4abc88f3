// Tells on every page who is signed in now, also when that changes in another tab.
import { onSession } from "/auth/client/latchkey.js"

const place = document.querySelector("#live")
const made = place.dataset.user // whom the page was made for; empty: nobody

onSession((session) => {
  const name = session ? session.user?.name ?? session.user?.email ?? "a guest" : ""
  place.textContent = name ? `Signed in as ${name}` : "Nobody is signed in"
  place.classList.toggle("in", !!session)
  if (name !== made) {
    const again = document.createElement("a")
    again.href = location.href
    again.textContent = "Reload"
    place.append(". ", again)
  }
  place.hidden = false
})
