// A producer looks whether it is to stop, and sends; meanwhile the channel is closed.
package main

type feed struct {
	out  chan int
	quit chan struct{}
}

func (f *feed) produce(done chan<- bool) {
	for i := 0; i < 3; i++ {
		select {
		case <-f.quit:
			done <- true
			return
		default:
		}
		f.out <- i
	}
	done <- true
}

func (f *feed) stop() {
	close(f.quit)
	close(f.out)
}

func main() {
	f := &feed{out: make(chan int, 8), quit: make(chan struct{})}
	done := make(chan bool, 1)

	go f.produce(done)
	f.stop()
	<-done
}
