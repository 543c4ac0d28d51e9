package iterm

import (
	"math/rand/v2"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"termpilot/fault"
	"termpilot/iterm/api"
	"termpilot/terminal"
)

func TestAPaneTakesFromItsNeighbours(t *testing.T) { // ITERM-66
	w := newWorld(3)
	oneTab(w, 1, w.sessions...)
	s := newFakeServer(t, w)
	c := s.client(Options{})
	if err := c.Resize(t.Context(), sid(2), 24, 120); err != nil {
		t.Fatal(err)
	}
	width := func() (list []int) {
		for _, x := range sessions(t, c) {
			list = append(list, x.Columns)
		}
		return list
	}
	if got, want := width(), []int{80, 120, 40}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if err := c.Resize(t.Context(), sid(2), 24, 500); err != nil { // as far as it goes
		t.Fatal(err)
	}
	if got, want := width(), []int{2, 236, 2}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	wantCode(t, c.Resize(t.Context(), sid(2), 24, 500), fault.Refused) // nothing is left to be given

	w.mu.Lock()
	w.stacked[1] = true // moved, and no notification came yet
	w.mu.Unlock()
	if err := c.Resize(t.Context(), sid(2), 30, 236); err != nil {
		t.Fatal(err)
	}
	w.mu.Lock()
	w.tmux[1] = true
	w.mu.Unlock()
	s.notifyAll(layoutChanged(w))
	if err := c.Send(t.Context(), sid(1), nil); err != nil {
		t.Fatal(err)
	}
	wantCode(t, c.Resize(t.Context(), sid(2), 24, 40), fault.Unsupported)
}

// tree makes a random tree of splits of about n sessions, whose sizes agree.
func tree(r *rand.Rand, n *int, vertical bool, columns, rows, depth int) *api.SplitTreeNode {
	node := &api.SplitTreeNode{Vertical: proto.Bool(vertical)}
	parts := 1 + r.IntN(3)
	for i := range parts {
		c, w := columns, rows
		if vertical {
			c = columns / parts
			if i == 0 {
				c += columns % parts
			}
		} else {
			w = rows / parts
			if i == 0 {
				w += rows % parts
			}
		}
		link := &api.SplitTreeNode_SplitTreeLink{}
		if depth > 0 && r.IntN(2) == 0 {
			link.Child = &api.SplitTreeNode_SplitTreeLink_Node{Node: tree(r, n, !vertical, c, w, depth-1)}
		} else {
			*n++
			link.Child = &api.SplitTreeNode_SplitTreeLink_Session{Session: &api.SessionSummary{
				UniqueIdentifier: proto.String(guid(*n)), GridSize: &api.Size{Width: proto.Int32(int32(c)), Height: proto.Int32(int32(w))},
			}}
		}
		node.Links = append(node.Links, link)
	}
	return node
}

// extent is the size of a node, and whether all of its sizes agree.
func extent(link *api.SplitTreeNode_SplitTreeLink) (columns, rows int, agree bool) {
	if x := link.GetSession(); x != nil {
		return int(x.GetGridSize().GetWidth()), int(x.GetGridSize().GetHeight()), true
	}
	agree = true
	for i, part := range link.GetNode().GetLinks() {
		c, r, ok := extent(part)
		agree = agree && ok
		switch vertical := link.GetNode().GetVertical(); {
		case i == 0:
			columns, rows = c, r
		case vertical:
			agree = agree && r == rows
			columns += c
		default:
			agree = agree && c == columns
			rows += r
		}
	}
	return columns, rows, agree
}

func FuzzASplitKeepsItsShape(f *testing.F) { // ITERM-66
	f.Add(uint64(1), 2, 30, 10)
	f.Add(uint64(7), 1, 1, 1000)
	f.Fuzz(func(t *testing.T, seed uint64, pick, rows, columns int) {
		rows, columns = min(max(rows, 2), maxSize), min(max(columns, 2), maxSize)
		r, n := rand.New(rand.NewPCG(seed, 1)), 0
		root := tree(r, &n, r.IntN(2) == 0, 200, 200, 3)
		before := proto.Clone(root)
		id := sid(1 + int(uint(pick)%uint(n)))
		got := resized(root, id, size{rows: rows, columns: columns})
		if !proto.Equal(root, before) || panes(got) != n {
			t.Fatalf("%d of %d panes; the tree that was given: %v", panes(got), n, proto.Equal(root, before))
		}
		if _, _, agree := extent(&api.SplitTreeNode_SplitTreeLink{Child: &api.SplitTreeNode_SplitTreeLink_Node{Node: got}}); !agree {
			t.Fatalf("the sizes do not agree: %v", got)
		}
		eachSession(got, 0, func(x *api.SessionSummary) {
			if g := x.GetGridSize(); g.GetWidth() < 1 || g.GetHeight() < 1 {
				t.Fatalf("%v", x)
			}
			if g := x.GetGridSize(); terminal.ID(x.GetUniqueIdentifier()) == id && (int(g.GetWidth()) > columns && columns > 200 || int(g.GetHeight()) > rows && rows > 200) {
				t.Fatalf("larger than asked: %v", x)
			}
		})
	})
}
