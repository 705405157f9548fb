// As ready_cases.go, but the order is the program's.
package main

func main() {
	var ready [4]chan string
	for i := range ready {
		ready[i] = make(chan string, 1)
		ready[i] <- string(rune('a' + i))
	}
	order := ""
	for i := range ready {
		order += <-ready[i]
	}
	if order == "dcba" {
		panic("the last one came first: " + order)
	}
}
