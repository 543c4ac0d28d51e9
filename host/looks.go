package host

import (
	"fmt"

	"termpilot/vt"
)

// addLooks adds how a profile looks. Nothing is drawn here, but programs made
// for iTerm2 expect these of every profile. The colours are those that the
// emulator tells to programs that ask; the rest is plain.
func addLooks(properties map[string]string) {
	color := func(r, g, b uint8) string {
		return encode(map[string]any{
			"Red Component": float64(r) / 255, "Green Component": float64(g) / 255, "Blue Component": float64(b) / 255,
			"Alpha Component": 1, "Color Space": "sRGB",
		})
	}
	text, background := color(vt.DefaultColor(false)), color(vt.DefaultColor(true))
	for key, value := range map[string]string{
		"Foreground Color": text, "Bold Color": text, "Cursor Color": text, "Selected Text Color": background,
		"Background Color": background, "Cursor Text Color": background, "Selection Color": text,
		"Normal Font": encode("Monaco 12"), "Transparency": encode(0), "Blur": encode(false), "Badge Text": encode(""),
	} {
		properties[key] = value
	}
	for n := range uint8(16) {
		properties[fmt.Sprintf("Ansi %d Color", n)] = color(vt.PaletteColor(n))
	}
}
