import { SessionProvider } from "next-auth/react"
import { createRoot } from "react-dom/client"
import { App } from "./App.jsx"

createRoot(document.getElementById("root")).render(
  <SessionProvider>
    <App />
  </SessionProvider>,
)
