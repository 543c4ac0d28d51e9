package tmux

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"time"

	"termpilot/private"
	"termpilot/terminal"
)

// The secrets of the shells that we opened are kept in private files, one for
// each pane, so that a process that comes later knows these shells' marks for
// their own. Who may read them may read the shells' memory, too.

// nonceAge is after how long a secret is thrown away whose pane nobody saw end.
const nonceAge = 90 * 24 * time.Hour

func (b *Backend) noncePath(id terminal.ID) string {
	sum := sha256.Sum256([]byte(b.socket + "\x00" + string(id)))
	return filepath.Join(b.o.Dir, "n-"+hex.EncodeToString(sum[:12]))
}

// keepNonce remembers the secret of a pane's shell. mu is held.
func (b *Backend) keepNonce(id terminal.ID, nonce string) {
	b.nonces[id] = nonce
	if b.o.Dir == "" {
		return
	}
	if err := private.Write(b.noncePath(id), []byte(nonce)); err != nil {
		b.o.Log.Warn("the secret of a shell's marks could not be kept for later", "session", string(id), "err", err)
	}
	old, _ := filepath.Glob(filepath.Join(b.o.Dir, "n-*"))
	for _, path := range old {
		if info, err := os.Lstat(path); err == nil && time.Since(info.ModTime()) > nonceAge {
			_ = os.Remove(path)
		}
	}
}

// nonceOf returns the secret of a pane's shell, or "" for a shell that we did
// not open. mu is held.
func (b *Backend) nonceOf(id terminal.ID) string {
	if nonce, ok := b.nonces[id]; ok || b.o.Dir == "" {
		return nonce
	}
	data, err := private.Read(b.noncePath(id), 256)
	if err != nil {
		return ""
	}
	b.nonces[id] = string(data)
	return string(data)
}

// dropNonce forgets the secret of a pane that has ended. mu is held.
func (b *Backend) dropNonce(id terminal.ID) {
	delete(b.nonces, id)
	if b.o.Dir != "" {
		_ = os.Remove(b.noncePath(id))
	}
}
