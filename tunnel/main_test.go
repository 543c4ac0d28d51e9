package tunnel

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"termpilot/tunnel/tunneltest"
)

func TestMain(m *testing.M) {
	tunneltest.Becomes()
	beHolder()
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		println(err.Error())
		code = 1
	}
	os.Exit(code)
}
