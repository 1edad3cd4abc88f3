package page

// drawings are icons by provider id, by provider type and by the names that
// Provider.Icon may hold. They are simple renditions made for these pages, in
// currentColor where a mark has one colour, so that they suit both schemes.
var drawings = map[string]string{
	"github": drawGitHub,
	"google": drawGoogle,
	"apple":  drawApple,
	"tiktok": drawTikTok,
	"yandex": drawYandex,

	"microsoft":          drawMicrosoft,
	"microsoft-entra-id": drawMicrosoft,
	"azure-ad":           drawMicrosoft,
	"azure-ad-b2c":       drawMicrosoft,
	"azure-devops":       drawMicrosoft,

	"facebook": drawFacebook,
	"gitlab":   drawGitLab,
	"linkedin": drawLinkedIn,
	"twitter":  drawX,
	"x":        drawX,

	Email:       drawEnvelope,
	Credentials: drawKey,
	WebAuthn:    drawPasskey,
	"key":       drawKey,
	"passkey":   drawPasskey,
	"generic":   drawDoor,
}

const (
	drawGitHub = `<path fill="currentColor" fill-rule="evenodd" d="M12 1.8a10.2 10.2 0 0 0-3.3 19.85c.5.1.8-.25.8-.6v-2.1c-2.3.45-3.25-.6-3.6-1.6-.2-.5-.65-1.05-1.1-1.3-.5-.3-.6-.75 0-.8.95-.1 1.65.65 2 1.25.65 1.05 1.7 1.15 2.75.75.1-.6.4-1.1.75-1.45-2.4-.3-4.2-1.5-4.2-4.6 0-1.2.4-2.2 1.1-2.9-.3-.9-.25-1.9.1-2.75 1-.1 2 .4 2.8 1a9.6 9.6 0 0 1 3.8 0c.8-.6 1.8-1.1 2.8-1 .35.85.4 1.85.1 2.75.7.7 1.1 1.7 1.1 2.9 0 3.1-1.8 4.3-4.2 4.6.5.45.8 1.2.8 2.2v3.05c0 .35.3.7.8.6A10.2 10.2 0 0 0 12 1.8z"/>`

	drawGoogle = `<g fill="none" stroke-width="4"><path stroke="#ea4335" d="M17.66 6.34A8 8 0 0 0 4.75 8.62"/>` +
		`<path stroke="#fbbc05" d="M4.75 8.62a8 8 0 0 0 0 6.76"/>` +
		`<path stroke="#34a853" d="M4.75 15.38a8 8 0 0 0 12.39 2.75"/>` +
		`<path stroke="#4285f4" d="M17.14 18.13A8 8 0 0 0 20 12h-8"/></g>`

	drawMicrosoft = `<path fill="#f25022" d="M2.5 2.5h9v9h-9z"/><path fill="#7fba00" d="M12.5 2.5h9v9h-9z"/>` +
		`<path fill="#00a4ef" d="M2.5 12.5h9v9h-9z"/><path fill="#ffb900" d="M12.5 12.5h9v9h-9z"/>`

	drawApple = `<path fill="currentColor" d="M12.2 7.7c1-.5 2-.9 3.2-.9 1.5 0 2.8.6 3.7 1.8a4.3 4.3 0 0 0 .5 7.4c-.9 2.9-2.7 5.6-4.6 5.6-1 0-1.7-.5-2.9-.5s-1.9.5-2.9.5c-2.5 0-5.3-4.5-5.3-8.4 0-3.7 2.3-6.4 5-6.4 1.3 0 2.3.4 3.3.9z"/>` +
		`<path fill="currentColor" d="M11.9 6.3c0-2.5 1.7-4.6 4.1-4.9.1 2.6-1.7 4.8-4.1 4.9z"/>`

	drawTikTok = `<g fill="none" stroke-width="3.2"><path stroke="#25f4ee" d="M10 10.2a4.8 4.8 0 1 0 3.8 4.7V2.5c.2 3 2.3 4.9 5.2 5.1"/>` +
		`<path stroke="#fe2c55" d="M11.6 11.4a4.8 4.8 0 1 0 3.8 4.7V3.7c.2 3 2.3 4.9 5.2 5.1"/>` +
		`<path stroke="currentColor" d="M10.8 10.8a4.8 4.8 0 1 0 3.8 4.7V3.1c.2 3 2.3 4.9 5.2 5.1"/></g>`

	drawYandex = `<circle cx="12" cy="12" r="10.5" fill="#fc3f1d"/>` +
		`<path fill="none" stroke="#fff" stroke-width="2.2" d="M14.3 18.8V6.2h-1.4a3.4 3.4 0 0 0 0 6.8h1.4M12.5 12.8l-3.3 6"/>`

	drawFacebook = `<circle cx="12" cy="12" r="10.5" fill="#1877f2"/>` +
		`<path fill="#fff" d="M10.3 22.3v-7.2H7.8v-3.2h2.5V9.7c0-2.7 1.6-4 3.9-4 .9 0 1.7.1 2 .1v2.8h-1.4c-1.1 0-1.4.6-1.4 1.4v1.9h2.8l-.5 3.2h-2.3v7.2z"/>`

	drawGitLab = `<path fill="#e24329" d="m12 21.5 4.4-11.8H7.6z"/><path fill="#fc6d26" d="M12 21.5 7.6 9.7H2.3zM12 21.5l4.4-11.8h5.3z"/>` +
		`<path fill="#fca326" d="m2.3 9.7-1 3.3 10.7 8.5zM21.7 9.7l1 3.3L12 21.5z"/><path fill="#e24329" d="m2.3 9.7 2.3-7.2 3 7.2zM21.7 9.7l-2.3-7.2-3 7.2z"/>`

	drawLinkedIn = `<rect x="1.5" y="1.5" width="21" height="21" rx="3.5" fill="#0a66c2"/>` +
		`<path fill="#fff" d="M5 9.6h3V19H5zM10 9.6h2.9v1.3c.5-.9 1.5-1.5 2.8-1.5 2.5 0 3.5 1.5 3.5 4.1V19h-3v-5c0-1.3-.4-2-1.5-2-1.2 0-1.7.9-1.7 2.1V19h-3z"/><circle cx="6.5" cy="6.5" r="1.7" fill="#fff"/>`

	drawX = `<path fill="none" stroke="currentColor" stroke-width="1.7" d="M3.5 3.5h3.8l13.2 17h-3.8zM4 20.5l6.7-7M20 3.5l-6.5 6.9"/>`

	drawEnvelope = `<g fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round">` +
		`<rect x="2.5" y="4.5" width="19" height="15" rx="2.5"/><path d="m3.5 7 8.5 6.5L20.5 7"/></g>`

	drawKey = `<g fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round">` +
		`<circle cx="7.5" cy="15.5" r="4.5"/><path d="M10.8 12.2 20.5 2.5M16.5 6.5l3.5 3.5M13.7 9.3l2.3 2.3"/></g>`

	drawPasskey = `<g fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round">` +
		`<circle cx="9" cy="7" r="4"/><path d="M13.5 20.5h-11v-1.5a5.5 5.5 0 0 1 5.5-5.5h2.5a5.5 5.5 0 0 1 2.7.7"/>` +
		`<circle cx="18.3" cy="12.5" r="2.8"/><path d="M18.3 15.3v6.2M18.3 19l1.9 1"/></g>`

	drawDoor = `<g fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round">` +
		`<path d="M14 3.5h4a2.5 2.5 0 0 1 2.5 2.5v12a2.5 2.5 0 0 1-2.5 2.5h-4M3.5 12h11M10.5 7.5 15 12l-4.5 4.5"/></g>`
)
