// Package api holds the messages of the iTerm2 API as Go types.
//
// api.proto is ours; the names and numbers in it are the protocol's. The
// generated code is checked in, so building needs no protoc. Regenerate with
// "go generate ./iterm/api": protoc 3.21 or newer on the path, and
// protoc-gen-go v1.36.12 as tools/go.mod pins it.
package api

//go:generate sh -c "cd ../.. && protoc --plugin=protoc-gen-go=$(go tool -n -modfile=tools/go.mod protoc-gen-go) --go_out=. --go_opt=module=termpilot iterm/api/api.proto"
