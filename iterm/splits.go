package iterm

import (
	"google.golang.org/protobuf/proto"

	"termpilot/iterm/api"
	"termpilot/terminal"
)

// panes counts the sessions of a tree of splits.
func panes(root *api.SplitTreeNode) int {
	n := 0
	eachSession(root, 0, func(*api.SessionSummary) { n++ })
	return n
}

// axis is a direction in which panes have a size.
type axis bool

const (
	across axis = true // columns: the dividers that matter are vertical
	down   axis = false
)

// least is the smallest pane that is asked for.
const least = 2

// resized is a tree of splits in which one session has another size, as near as
// its neighbours allow: cells go to and come from the panes at the nearest
// divider. Where there is no such divider, the whole tab changes its size. The
// tree that was given stays as it is.
func resized(root *api.SplitTreeNode, id terminal.ID, want size) *api.SplitTreeNode {
	fresh := proto.Clone(root).(*api.SplitTreeNode)
	path, leaf := pathTo(fresh, id, 0)
	if leaf == nil {
		return fresh
	}
	adjust(fresh, path, across, want.columns-int(leaf.GetGridSize().GetWidth()))
	adjust(fresh, path, down, want.rows-int(leaf.GetGridSize().GetHeight()))
	return fresh
}

// step is one node on the way to a session, and the link that leads on.
type step struct {
	node *api.SplitTreeNode
	link int
}

func pathTo(node *api.SplitTreeNode, id terminal.ID, depth int) ([]step, *api.SessionSummary) {
	if depth > maxSplits {
		return nil, nil
	}
	for i, link := range node.GetLinks() {
		if x := link.GetSession(); x != nil && terminal.ID(x.GetUniqueIdentifier()) == id {
			return []step{{node, i}}, x
		}
		if path, x := pathTo(link.GetNode(), id, depth+1); x != nil {
			return append([]step{{node, i}}, path...), x
		}
	}
	return nil, nil
}

// adjust makes the pane at the end of a path wider by some cells, or taller.
func adjust(root *api.SplitTreeNode, path []step, a axis, by int) {
	if by == 0 {
		return
	}
	for i := len(path) - 1; i >= 0; i-- {
		node, at := path[i].node, path[i].link
		if axis(node.GetVertical()) != a || len(node.GetLinks()) < 2 {
			continue
		}
		var others []*api.SplitTreeNode_SplitTreeLink // the next ones first, then those before
		others = append(others, node.GetLinks()[at+1:]...)
		for k := at - 1; k >= 0; k-- {
			others = append(others, node.GetLinks()[k])
		}
		if by < 0 {
			by = max(by, -spare(node.GetLinks()[at], a))
			stretch(node.GetLinks()[at], a, by)
			stretch(others[0], a, -by)
			return
		}
		left := by
		for _, other := range others {
			take := min(left, spare(other, a))
			stretch(other, a, -take)
			left -= take
		}
		stretch(node.GetLinks()[at], a, by-left)
		return
	}
	whole := &api.SplitTreeNode_SplitTreeLink{Child: &api.SplitTreeNode_SplitTreeLink_Node{Node: root}}
	stretch(whole, a, max(by, -spare(whole, a)))
}

// spare is how many cells a pane, or a group of panes, can give.
func spare(link *api.SplitTreeNode_SplitTreeLink, a axis) int {
	if x := link.GetSession(); x != nil {
		if a == across {
			return max(int(x.GetGridSize().GetWidth())-least, 0)
		}
		return max(int(x.GetGridSize().GetHeight())-least, 0)
	}
	node, total := link.GetNode(), 0
	for i, part := range node.GetLinks() {
		s := spare(part, a)
		switch {
		case axis(node.GetVertical()) == a:
			total += s
		case i == 0 || s < total:
			total = s
		}
	}
	return total
}

// stretch makes a pane, or a group of panes, larger by some cells, or smaller
// by no more than it can spare.
func stretch(link *api.SplitTreeNode_SplitTreeLink, a axis, by int) {
	if x := link.GetSession(); x != nil {
		g := &api.Size{Width: proto.Int32(x.GetGridSize().GetWidth()), Height: proto.Int32(x.GetGridSize().GetHeight())}
		if a == across {
			g.Width = proto.Int32(max(g.GetWidth()+int32(by), 1))
		} else {
			g.Height = proto.Int32(max(g.GetHeight()+int32(by), 1))
		}
		x.GridSize = g
		return
	}
	node := link.GetNode()
	if axis(node.GetVertical()) != a {
		for _, part := range node.GetLinks() {
			stretch(part, a, by)
		}
		return
	}
	for i := len(node.GetLinks()) - 1; i >= 0 && by != 0; i-- {
		part := by
		if by < 0 {
			part = max(by, -spare(node.GetLinks()[i], a))
		}
		stretch(node.GetLinks()[i], a, part)
		by -= part
	}
}
