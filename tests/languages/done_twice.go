// A worker and a canceller both look whether an item is left, and then say that it is done.
package main

import "sync"

type batch struct {
	group sync.WaitGroup
	mutex sync.Mutex
	left  int
}

func (b *batch) pending() bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.left > 0
}

func (b *batch) finish(ended chan<- bool) {
	if b.pending() {
		b.group.Done()
		b.mutex.Lock()
		b.left--
		b.mutex.Unlock()
	}
	ended <- true
}

func main() {
	b := &batch{left: 1}
	ended := make(chan bool, 2)

	b.group.Add(1)
	go b.finish(ended)
	go b.finish(ended)
	b.group.Wait()
	<-ended
	<-ended
}
