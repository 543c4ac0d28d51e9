package reduce

// budget is room for lines, in three measures.
type budget struct{ rows, chars, price int }

// budget is a bit less than the fold of the text has, without the lines that show
// anyway.
func (r *report) budget() budget {
	lines := r.in.lines
	b := budget{rows: r.in.rows, chars: r.in.room}
	for i, l := range lines {
		if len(lines) <= defaultLines || i < foldHead || i >= len(lines)-foldTail {
			b.price += price(shorten(l))
		}
	}
	b = b.part(9, 10)
	for _, l := range r.lines {
		b.take(l.text)
	}
	return b
}

// part is a share of the room; rows are no matter of price.
func (b budget) part(n, of int) budget {
	return budget{b.rows, b.chars * n / of, b.price * n / of}
}

// take takes the room of a line.
func (b *budget) take(text string) bool {
	b.rows, b.chars, b.price = b.rows-1, b.chars-chars(text)-1, b.price-price(text)
	return b.rows >= 0 && b.chars >= 0 && b.price >= 0
}

// price is about what a text costs in tokens: words by their length, figures by
// threes, every other sign.
func price(text string) int {
	n, letters, digits := 1, 0, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c >= '0' && c <= '9':
			n += boolInt(digits%3 == 0)
			digits, letters = digits+1, 0
		case c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80:
			n += boolInt(letters%6 == 0)
			letters, digits = letters+1, 0
		case c == ' ':
			letters, digits = 0, 0
		default:
			n += boolInt(i == 0 || text[i-1] != c) // a row of one sign is cheap
			letters, digits = 0, 0
		}
	}
	return n
}
