// Which of several cases that are ready a select takes is decided by random numbers of the runtime: one order is not expected.
package main

func main() {
	var ready [4]chan string
	for i := range ready {
		ready[i] = make(chan string, 1)
		ready[i] <- string(rune('a' + i))
	}
	order := ""
	for range ready {
		select {
		case s := <-ready[0]:
			order += s
		case s := <-ready[1]:
			order += s
		case s := <-ready[2]:
			order += s
		case s := <-ready[3]:
			order += s
		}
	}
	if order == "dcba" {
		panic("the last one came first: " + order)
	}
}
