// As done_twice.go, but who looks takes the item under the same lock.
package main

import "sync"

type batch struct {
	group sync.WaitGroup
	mutex sync.Mutex
	left  int
}

func (b *batch) take() bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.left == 0 {
		return false
	}
	b.left--
	return true
}

func (b *batch) finish(ended chan<- bool) {
	if b.take() {
		b.group.Done()
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
