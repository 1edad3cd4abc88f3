// Package mailtext words the mails of a site, a kind of message each, and checks what
// goes into one. It delivers nothing: it is what package mail and the mail APIs
// of package providers share, and it is for authors of another Send.
//
//	&latchkey.Email{Send: func(ctx context.Context, m latchkey.Message) error {
//		content, err := mailtext.Compose(m)
//		if err != nil {
//			return err
//		}
//		return queue.Put(ctx, m.To, content.Subject, content.Text, content.HTML)
//	}}
//
// [Compose] returns a [Content]. [Content.Check], [Recipient] and [Sender] refuse
// what would smuggle another header or another recipient into a mail. Errors
// never repeat what they are about: a link is a secret.
//
// Everything here may be used concurrently.
package mailtext
