// Two goroutines take two mutexes in the same order.
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
	a.Lock()
	b.Lock()
	b.Unlock()
	a.Unlock()
	<-done
}
