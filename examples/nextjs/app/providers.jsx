"use client"

import { SessionProvider } from "next-auth/react"

export const Providers = ({ session, children }) => <SessionProvider session={session}>{children}</SessionProvider>
