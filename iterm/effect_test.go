package iterm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"termpilot/fault"
	"termpilot/iterm/api"
	"termpilot/terminal"
)

// This file is effects of which the terminal does not tell as it should.

// effects are the calls that have one, on session 1, each with a request that has it.
var effects = map[string]struct {
	call func(context.Context, *Client) error
	is   func(*api.ClientOriginatedMessage) bool
}{
	"send": {
		func(ctx context.Context, c *Client) error { return c.Send(ctx, sid(1), []byte("x")) },
		func(m *api.ClientOriginatedMessage) bool { return m.GetSendTextRequest() != nil },
	},
	"open": {
		func(ctx context.Context, c *Client) error { _, err := c.Open(ctx, terminal.OpenSpec{}); return err },
		func(m *api.ClientOriginatedMessage) bool { return m.GetCreateTabRequest() != nil },
	},
	"split": {
		func(ctx context.Context, c *Client) error {
			_, err := c.Open(ctx, terminal.OpenSpec{Place: terminal.InSplit, Beside: sid(1)})
			return err
		},
		func(m *api.ClientOriginatedMessage) bool { return m.GetSplitPaneRequest() != nil },
	},
	"close": {
		func(ctx context.Context, c *Client) error { return c.Close(ctx, sid(1), terminal.Force) },
		func(m *api.ClientOriginatedMessage) bool { return m.GetCloseRequest() != nil },
	},
	"close tab": {
		func(ctx context.Context, c *Client) error { return c.CloseTab(ctx, "1", terminal.Force) },
		func(m *api.ClientOriginatedMessage) bool { return m.GetCloseRequest() != nil },
	},
	"focus": {
		func(ctx context.Context, c *Client) error { return c.Focus(ctx, sid(1)) },
		func(m *api.ClientOriginatedMessage) bool { return m.GetActivateRequest() != nil },
	},
	"resize": {
		func(ctx context.Context, c *Client) error { return c.Resize(ctx, sid(1), 30, 90) },
		func(m *api.ClientOriginatedMessage) bool { return m.GetSetPropertyRequest() != nil },
	},
	"rename": {
		func(ctx context.Context, c *Client) error { return c.Rename(ctx, sid(1), "x") },
		func(m *api.ClientOriginatedMessage) bool { return len(m.GetVariableRequest().GetSet()) > 0 },
	},
}

func wantUnknown(t *testing.T, name string, err error) {
	t.Helper()
	if fault.CodeOf(err) != fault.Deadline || !strings.Contains(err.Error(), "whether it happened is unknown") || fault.HintOf(err) == "" {
		t.Errorf("%s: %v (%s)", name, err, fault.HintOf(err))
	}
}

func TestAnEffectWhoseAnswerCannotBeReadIsUnknown(t *testing.T) { // ITERM-5, ITERM-9
	for kind, garbled := range map[string]*api.ServerOriginatedMessage{
		"holds nothing":   {},
		"of another kind": {Submessage: &api.ServerOriginatedMessage_FocusResponse{FocusResponse: &api.FocusResponse{}}},
	} {
		for name, effect := range effects {
			s := newFakeServer(t, newWorld(2))
			c := s.client(Options{})
			sessions(t, c)
			s.handling(func(c *fakeConn, m *api.ClientOriginatedMessage) bool {
				if effect.is(m) {
					c.answer(m, proto.Clone(garbled).(*api.ServerOriginatedMessage))
				}
				return effect.is(m)
			})
			wantUnknown(t, name+" "+kind, effect.call(t.Context(), c))
		}
	}
}

func TestAStatusThatIsNoneLeavesTheEffectUnknown(t *testing.T) { // ITERM-9
	const odd = 77
	for name, effect := range effects {
		s := newFakeServer(t, newWorld(2))
		c := s.client(Options{})
		sessions(t, c)
		s.handling(func(c *fakeConn, m *api.ClientOriginatedMessage) bool {
			if !effect.is(m) {
				return false
			}
			answer := s.world.answer(m)
			if r := answer.GetCloseResponse(); r != nil {
				r.Statuses = []api.CloseResponse_Status{odd}
			} else {
				ref := answer.ProtoReflect()
				sub := ref.Get(ref.WhichOneof(ref.Descriptor().Oneofs().ByName("submessage"))).Message()
				status := sub.Descriptor().Fields().ByName("status")
				sub.Set(status, protoreflect.ValueOfEnum(odd))
			}
			c.answer(m, answer)
			return true
		})
		wantUnknown(t, name, effect.call(t.Context(), c))
	}
}

func TestARefusalToTellWhatCameOfAnEffectIsNoRefusalOfIt(t *testing.T) { // ITERM-9
	for name, effect := range effects {
		if name == "send" {
			continue // its answer is all that is waited for
		}
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(2)
			w.mute = true
			s := &fakeServer{t: t, world: w}
			taken := false
			s.handling(func(c *fakeConn, m *api.ClientOriginatedMessage) bool {
				taken = taken || effect.is(m)
				if !taken || effect.is(m) {
					return false
				}
				c.answer(m, &api.ServerOriginatedMessage{Submessage: &api.ServerOriginatedMessage_Error{Error: "not now"}})
				return true
			})
			c := New(Options{Name: "iterm2", Dial: s.pipe})
			err := effect.call(t.Context(), c)
			wantUnknown(t, name, err)
			if errors.Is(err, fault.Refused) {
				t.Errorf("%s: %v is a refusal", name, err)
			}
			_ = c.Disconnect()
			s.running.Wait()
		})
	}
}

func TestAConnectionThatEndsAnywhereAfterAnEffectLeavesItUnknown(t *testing.T) { // ITERM-9
	for name, effect := range effects {
		for after := range 6 {
			s := newFakeServer(t, newWorld(2))
			c := s.client(Options{})
			sessions(t, c)
			taken, since := false, 0
			s.handling(func(c *fakeConn, m *api.ClientOriginatedMessage) bool {
				if taken = taken || effect.is(m); !taken {
					return false
				}
				if since++; since <= after {
					return false
				}
				_ = s.world.answer(m) // done, and nobody is told
				c.raw.Close()
				return true
			})
			if err := effect.call(t.Context(), c); err != nil {
				wantUnknown(t, fmt.Sprintf("%s, cut at request %d", name, after), err)
			} else if after == 0 {
				t.Errorf("%s: no error", name)
			}
		}
	}
}

func TestATimeThatIsOverAfterASessionWasMadeSaysSo(t *testing.T) { // ITERM-9
	s := newFakeServer(t, newWorld(1))
	c := s.client(Options{})
	sessions(t, c)
	l, err := c.living()
	if err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = l.settle(over, place{id: sid(1)}, terminal.OpenSpec{}, focus{}) // the layout shows it already
	wantUnknown(t, "late", c.explain(t.Context(), "open", sid(1), err, true))
	s.stop()
	awaitLoss(c)
	_, err = l.settle(t.Context(), place{id: sid(1)}, terminal.OpenSpec{}, focus{})
	wantUnknown(t, "lost", c.explain(t.Context(), "open", sid(1), err, true)) // backend_unavailable would let another terminal open it again
}

func TestATypedTextOfWhichNothingIsToldIsUnknown(t *testing.T) { // ITERM-9, ITERM-96
	for name, r := range map[string]*api.InvokeFunctionResponse{
		"nothing": {},
		"null":    {Disposition: &api.InvokeFunctionResponse_Success_{Success: &api.InvokeFunctionResponse_Success{JsonResult: proto.String("null")}}},
		"late": {Disposition: &api.InvokeFunctionResponse_Error_{Error: &api.InvokeFunctionResponse_Error{
			Status: api.InvokeFunctionResponse_TIMEOUT.Enum(),
		}}},
	} {
		w := newWorld(1)
		w.host = true
		s := newFakeServer(t, w)
		s.handling(func(c *fakeConn, m *api.ClientOriginatedMessage) bool {
			if m.GetInvokeFunctionRequest() == nil {
				return false
			}
			c.answer(m, &api.ServerOriginatedMessage{Submessage: &api.ServerOriginatedMessage_InvokeFunctionResponse{InvokeFunctionResponse: r}})
			return true
		})
		c := s.client(Options{Name: "host"})
		sessions(t, c)
		typed, err := c.TypeAt(t.Context(), sid(1), "P", []byte("x"))
		if typed {
			t.Errorf("%s: it was typed", name)
		}
		wantUnknown(t, name, err)
	}
}

func TestWhatElseChangesDoesNotPutOffTheLookAtAnEffect(t *testing.T) { // ITERM-54, ITERM-63, ITERM-65
	for name, step := range map[string]struct {
		call func(context.Context, *Client) error
		want fault.Code
	}{
		"close":  {effects["close"].call, ""},
		"resize": {func(ctx context.Context, c *Client) error { return c.Resize(ctx, sid(1), 30, 200) }, fault.Refused},
		"focus":  {effects["focus"].call, fault.Refused},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(2)
				w.mute, w.widest = true, 90
				s := &fakeServer{t: t, world: w}
				s.handling(func(c *fakeConn, m *api.ClientOriginatedMessage) bool {
					if m.GetActivateRequest() == nil {
						return false
					}
					c.answer(m, &api.ServerOriginatedMessage{Submessage: &api.ServerOriginatedMessage_ActivateResponse{ActivateResponse: &api.ActivateResponse{}}})
					return true
				})
				c := New(Options{Name: "iterm2", Dial: s.pipe})
				if _, err := c.Sessions(t.Context()); err != nil {
					t.Fatal(err)
				}
				ctx, stop := context.WithCancel(t.Context())
				s.running.Go(func() { // a program that has a wheel turning in its title
					for ctx.Err() == nil {
						time.Sleep(relist / 5) // by the bubble's clock
						s.notifyAll(variableChanged(guid(2), varWindowName, `"-"`))
					}
				})
				if err := step.call(t.Context(), c); fault.CodeOf(err) != step.want {
					t.Errorf("got %v, want %q", err, step.want)
				}
				stop()
				_ = c.Disconnect()
				s.running.Wait()
			})
		})
	}
}
