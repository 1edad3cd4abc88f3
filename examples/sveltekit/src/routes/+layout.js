export const ssr = false // Go serves files, it runs no JavaScript
