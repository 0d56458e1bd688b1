// The reader of FXT with a planted bug of harness_example.c, in Go. It takes a path: the input is a file in memory. Build commands are in
// KIT.md.
package main

// #cgo CFLAGS: -D_GNU_SOURCE
// #include "harness.h"
import "C"

import (
	"encoding/binary"
	"os"
	"unsafe"
)

func bits(word uint64, low, width uint) int { return int(word >> low & (1<<width - 1)) }

// Words of an inline string.
func inlineWords(reference int) int {
	if reference&0x8000 == 0 {
		return 0
	}
	return (reference&0x7fff + 7) / 8
}

func readEvent(event []uint64) bool {
	blob := make([]byte, 256)
	header, thread := event[0], bits(event[0], 24, 8)
	at := 2 + inlineWords(bits(header, 32, 16)) + inlineWords(bits(header, 48, 16))
	if thread == 0 {
		at += 2
	}
	for i := 0; i < bits(header, 20, 4); i++ {
		if at >= len(event) {
			return false
		}
		argument := event[at]
		size, name, bytes := bits(argument, 4, 12), inlineWords(bits(argument, 16, 16)), bits(argument, 32, 32)
		if size == 0 || size > len(event)-at {
			return false
		}
		if bits(argument, 0, 4) == 10 && i >= 2 && thread == 0 {
			if 1+name+(bytes+7)/8 != size {
				return false
			}
			blob = blob[:bytes] // the bug
		}
		at += size
	}
	return true
}

func read(path string) {
	data, err := os.ReadFile(path)
	var words []uint64
	for at := 0; err == nil && at+8 <= len(data); at += 8 {
		words = append(words, binary.LittleEndian.Uint64(data[at:]))
	}
	if len(words) == 0 || words[0] != 0x0016547846040010 {
		return
	}
	for words = words[1:]; len(words) > 0; {
		size := bits(words[0], 4, 12)
		if size == 0 || size > len(words) || (bits(words[0], 0, 4) == 4 && size >= 2 && !readEvent(words[:size])) {
			return
		}
		words = words[size:]
	}
}

//export LLVMFuzzerTestOneInput
func LLVMFuzzerTestOneInput(data *C.uint8_t, size C.size_t) C.int {
	var path [C.TRACEMEND_PATH]C.char
	fd := C.tracemend_memory_file(data, size, &path[0])
	if fd >= 0 {
		read(C.GoString((*C.char)(unsafe.Pointer(&path[0]))))
		C.close(fd)
	}
	return 0
}

func main() {}
