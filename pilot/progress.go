package pilot

import "time"

// progressEvery is how often a long wait says that it goes on.
const progressEvery = 5 * time.Second

// ticker tells a caller that a wait goes on. A nil ticker tells nobody.
type ticker struct {
	tellTo func(elapsed time.Duration, message string)
	began  time.Time
	told   time.Time
}

func newTicker(to func(time.Duration, string), began time.Time) *ticker {
	if to == nil {
		return nil
	}
	return &ticker{tellTo: to, began: began, told: began}
}

// tell calls back when progressEvery has passed since the last time.
func (t *ticker) tell(now time.Time, message string) {
	if t == nil || now.Sub(t.told) < progressEvery {
		return
	}
	t.told = now
	t.tellTo(now.Sub(t.began), message)
}

func (t *ticker) last() time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.told
}
