// Two goroutines take two mutexes in opposite orders.
package main

import "sync"

func main() {
	var a, b sync.Mutex
	done := make(chan bool)

	go func() {
		a.Lock()
		b.Lock()
		b.Unlock()
		a.Unlock()
		done <- true
	}()
	b.Lock()
	a.Lock()
	a.Unlock()
	b.Unlock()
	<-done
}
