package host

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"termpilot/iterm/api"
)

func TestATransactionHoldsUpOutputAndOtherClients(t *testing.T) { // HOST-116
	h := newHost(t)
	c, other := h.connect(), h.connect()
	id := c.open("sh")
	transact := func(c *apiClient, begin bool) api.TransactionResponse_Status {
		return c.call(&api.TransactionRequest{Begin: &begin}).GetTransactionResponse().GetStatus()
	}
	if got := transact(c, false); got != api.TransactionResponse_NO_TRANSACTION {
		t.Error(got)
	}
	c.send(id, "n=0; while sleep 0.01; do n=$((n+1)); echo line $n; done\r")
	c.awaitScreen(id, "line 3")
	if got := transact(c, true); got != api.TransactionResponse_OK {
		t.Fatal(got)
	}
	if got := transact(c, true); got != api.TransactionResponse_ALREADY_IN_TRANSACTION {
		t.Error(got)
	}
	before := c.screen(id)
	answered := make(chan string, 1)
	go func() { answered <- other.screen(id) }()
	began := time.Now()
	waitUntil(t, "the program prints on", func() bool { return time.Since(began) > 100*time.Millisecond })
	if got := c.screen(id); got != before {
		t.Errorf("within the transaction the screen changed from %q to %q", before, got)
	}
	select {
	case <-answered:
		t.Error("another client was answered within the transaction")
	default:
	}
	c.call(&api.InjectRequest{SessionId: []string{id}, Data: []byte("its own\r\n")})
	if got := c.screen(id); !strings.Contains(got, "its own") {
		t.Error("what the client itself injects waits")
	}
	if got := transact(c, false); got != api.TransactionResponse_OK {
		t.Error(got)
	}
	<-answered
	waitUntil(t, "output goes on", func() bool { return c.screen(id) != before })
}

func TestATransactionEndsWithItsClientAndInTime(t *testing.T) { // HOST-117
	t.Parallel()
	h := newHost(t)
	c, hung := h.connect(), h.connect()
	id := c.open("sh")
	begin := &api.TransactionRequest{Begin: ptr(true)}
	hung.call(begin)
	_ = hung.ws.Close()
	c.screen(id) // is answered
	hung = h.connect()
	// One that is begun anew all the time holds nobody up for ever.
	storm := make(chan struct{})
	stormed := make(chan struct{})
	go func() {
		defer close(stormed)
		for {
			select {
			case <-storm:
				return
			default:
				hung.call(begin)
				hung.call(&api.TransactionRequest{})
			}
		}
	}()
	for range 50 {
		c.call(&api.FocusRequest{})
	}
	c.closeSession(id, true)
	close(storm)
	<-stormed
	began := time.Now()
	hung.call(begin)
	// What takes time waits for the client's own transaction, which ends by itself.
	if got := hung.call(&api.CreateTabRequest{}).GetCreateTabResponse().GetStatus(); got != api.CreateTabResponse_OK {
		t.Error(got)
	}
	if took := time.Since(began); took < transactionPatience {
		t.Errorf("a tab was made within the transaction, after %v", took)
	}
	if got := hung.call(&api.TransactionRequest{}).GetTransactionResponse().GetStatus(); got != api.TransactionResponse_NO_TRANSACTION {
		t.Errorf("a transaction that had lost its hold: %v", got)
	}
}

func TestAHostEndsWithinATransaction(t *testing.T) { // HOST-117
	c := newHost(t).connect()
	if got := c.call(&api.TransactionRequest{Begin: ptr(true)}).GetTransactionResponse().GetStatus(); got != api.TransactionResponse_OK {
		t.Error(got)
	}
}

func TestTransactionsLeaveHalfOfTheTimeToOthers(t *testing.T) { // HOST-163
	for what, hold := range map[string]time.Duration{"one that is ended": 50 * time.Millisecond, "one that is left open": time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			f := newFreeze()
			const all, one = time.Minute, time.Millisecond
			stop := make(chan struct{})
			for range 3 {
				greedy := &client{}
				go func() {
					for {
						f.begin(greedy)
						select {
						case <-stop:
							return
						case <-time.After(min(hold, transactionPatience)):
							f.end(greedy)
						}
					}
				}()
			}
			polite, answered := &client{}, 0
			for began := time.Now(); time.Since(began) < all; answered++ {
				f.pass(polite)
				time.Sleep(one) // a request takes its time
			}
			close(stop)
			f.finish()
			synctest.Wait()
			if least := int(all/one) * 45 / 100; answered < least {
				t.Errorf("%s: %d requests were answered in %v, of at least %d", what, answered, all, least)
			}
		})
	}
}

func TestALayoutIsAppliedWhenTheClientsTransactionEnds(t *testing.T) { // HOST-117
	h := newHost(t)
	c := h.connect()
	id := c.open("sh")
	_, tab := c.place(id)
	spec := `{"tabs":[{"tab_id":` + quote(tab) + `,"root":{"session_id":` + quote(id) + `}}]}`
	c.call(&api.TransactionRequest{Begin: ptr(true)})
	applied := make(chan string, 1)
	go func() { applied <- c.applyLayout(spec) }()
	waitUntil(t, "it is asked for", func() bool { // its id is the next
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.wait) == 1
	})
	// One that had ended by itself would not be there to be ended.
	if got := c.call(&api.TransactionRequest{}).GetTransactionResponse().GetStatus(); got != api.TransactionResponse_OK {
		t.Errorf("the end: %v", got)
	}
	if why := <-applied; why != "" {
		t.Errorf("applied: %q", why)
	}
}
