// As closed_channel.go, but who sends closes the channel.
package main

type feed struct {
	out  chan int
	quit chan struct{}
}

func (f *feed) produce() {
	defer close(f.out)
	for i := 0; i < 3; i++ {
		select {
		case <-f.quit:
			return
		default:
		}
		f.out <- i
	}
}

func (f *feed) stop() {
	close(f.quit)
}

func main() {
	f := &feed{out: make(chan int, 8), quit: make(chan struct{})}
	n := 0

	go f.produce()
	f.stop()
	for range f.out {
		n++
	}
	if n > 3 {
		panic("more than were sent")
	}
}
