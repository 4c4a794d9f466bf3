package dashboards

// width is that of a dashboard, in Grafana's columns.
const width = 24

// grid is how far down each column is filled. Grafana draws panels upward into whatever is
// free above them, so that what is placed must leave nothing free.
type grid [width]int

// place finds room for a panel: as high as possible, then as far left.
func (g *grid) place(w, h int) (x, y int) {
	y = -1
	for left := 0; left+w <= width; left++ {
		if top := g.top(left, w); y < 0 || top < y {
			x, y = left, top
		}
	}
	for column := x; column < x+w; column++ {
		g[column] = y + h
	}
	return x, y
}

// top is where a panel would begin.
func (g *grid) top(left, w int) int {
	top := 0
	for _, filled := range g[left : left+w] {
		top = max(top, filled)
	}
	return top
}
