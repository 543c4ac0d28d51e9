package main

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/png"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func text(s string) mcp.Content { return &mcp.TextContent{Text: s} }

func picture() mcp.Content { return &mcp.ImageContent{MIMEType: "image/png", Data: dot()} }

func sound() mcp.Content { return &mcp.AudioContent{MIMEType: "audio/wav", Data: silence()} }

func document(uri, mimeType, s string) mcp.Content {
	return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: uri, MIMEType: mimeType, Text: s}}
}

// dot returns a PNG of one red pixel.
func dot() []byte {
	img := image.NewNRGBA(image.Rect(0, 0, 1, 1))
	img.Set(0, 0, color.NRGBA{R: 0xff, A: 0xff})
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		panic(err) // an image in memory into a buffer
	}
	return out.Bytes()
}

// silence returns a WAV of one millisecond: mono, 8 bits, 8000 samples a second.
func silence() []byte {
	samples := [8]byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80} // unsigned: the middle is quiet
	out, err := binary.Append(nil, binary.LittleEndian, struct {
		RIFF            [4]byte
		Rest            uint32 // bytes after this field
		WAVE, Format    [4]byte
		FormatSize      uint32
		PCM, Channels   uint16
		Rate, BytesPerS uint32
		Align, Bits     uint16
		Data            [4]byte
		DataSize        uint32
		Samples         [8]byte
	}{
		RIFF: [4]byte([]byte("RIFF")), Rest: 36 + 8,
		WAVE: [4]byte([]byte("WAVE")), Format: [4]byte([]byte("fmt ")), FormatSize: 16,
		PCM: 1, Channels: 1, Rate: 8000, BytesPerS: 8000, Align: 1, Bits: 8,
		Data: [4]byte([]byte("data")), DataSize: 8, Samples: samples,
	})
	if err != nil {
		panic(err) // every field has a fixed size
	}
	return out
}
