// Command relay carries a line by the way that a command goes, and does nothing
// else: `relay serve SOCKET` from a pipe to a socket and back, `relay host SOCKET
// COMMAND ...` from the socket to a shell on a PTY of its own, and what marks the
// shell's next prompt back. What it takes is what three processes take.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"

	"github.com/creack/pty"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "relay:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if args[0] == "serve" {
		return serve(args[1])
	}
	return host(args[1], args[2:])
}

// serve hands every line of the input on and answers with the line that comes back.
func serve(socket string) error {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return err
	}
	defer conn.Close()
	in, back := bufio.NewReader(os.Stdin), bufio.NewReader(conn)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return nil // the client has left
		}
		if _, err := conn.Write(line); err != nil {
			return err
		}
		answer, err := back.ReadBytes('\n')
		if err != nil {
			return err
		}
		if _, err := os.Stdout.Write(answer); err != nil {
			return err
		}
	}
}

// host types the lines of its one client into a shell, and answers each when the
// shell has marked the end of a command and the prompt behind it.
func host(socket string, command []string) error {
	door, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	defer door.Close()
	shell := exec.Command(command[0], command[1:]...)
	tty, err := pty.StartWithSize(shell, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		return err
	}
	defer func() { tty.Close(); _ = shell.Process.Kill(); _ = shell.Wait() }()
	out := bufio.NewReader(tty)
	if err := until(out, "133;B"); err != nil {
		return err
	}
	fmt.Println("ready")
	conn, err := door.Accept()
	if err != nil {
		return err
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return nil // the client has left
		}
		if _, err := tty.Write(bytes.ReplaceAll(line, []byte("\n"), []byte("\r"))); err != nil {
			return err
		}
		for _, mark := range []string{"133;D", "133;B"} {
			if err := until(out, mark); err != nil {
				return err
			}
		}
		if _, err := conn.Write(line); err != nil {
			return err
		}
	}
}

func until(out *bufio.Reader, mark string) error {
	var seen []byte
	for !bytes.HasSuffix(seen, []byte(mark)) {
		c, err := out.ReadByte()
		if err != nil {
			return err
		}
		seen = append(seen, c)
	}
	return nil
}
