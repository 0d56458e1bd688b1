// The reader of FXT with a planted bug of harness_example.c, in Rust. Build commands are in KIT.md.
#![no_main]

fn bits(word: u64, low: u32, width: u32) -> usize {
    (word >> low & ((1 << width) - 1)) as usize
}

// Words of an inline string.
fn inline_words(reference: usize) -> usize {
    if reference & 0x8000 != 0 { ((reference & 0x7fff) + 7) / 8 } else { 0 }
}

fn read_event(event: &[u64]) -> Option<()> {
    let mut blob = [0u8; 256];
    let (header, thread) = (event[0], bits(event[0], 24, 8));
    let inline = if thread != 0 { 0 } else { 2 };
    let mut at = 2 + inline + inline_words(bits(header, 32, 16)) + inline_words(bits(header, 48, 16));
    for i in 0..bits(header, 20, 4) {
        let argument = *event.get(at)?;
        let (size, name, bytes) = (bits(argument, 4, 12), inline_words(bits(argument, 16, 16)), bits(argument, 32, 32));
        if size == 0 || size > event.len() - at {
            return None;
        }
        if bits(argument, 0, 4) == 10 && i >= 2 && thread == 0 {
            if 1 + name + (bytes + 7) / 8 != size {
                return None;
            }
            blob[..bytes].fill(1); // the bug
        }
        at += size;
    }
    std::hint::black_box(blob);
    Some(())
}

fn read(data: &[u8]) -> Option<()> {
    let words: Vec<u64> = data.chunks_exact(8).map(|w| u64::from_le_bytes(w.try_into().unwrap())).collect();
    let mut rest = words.strip_prefix(&[0x0016547846040010])?;
    while let Some(header) = rest.first() {
        let size = bits(*header, 4, 12);
        if size == 0 || size > rest.len() {
            return None;
        }
        if bits(*header, 0, 4) == 4 && size >= 2 {
            read_event(&rest[..size])?;
        }
        rest = &rest[size..];
    }
    Some(())
}

#[no_mangle]
pub extern "C" fn LLVMFuzzerTestOneInput(data: *const u8, size: usize) -> i32 {
    let data = if size == 0 { &[] } else { unsafe { std::slice::from_raw_parts(data, size) } };
    // A panic must not pass to the fuzzer, which is C++.
    if std::panic::catch_unwind(|| read(data)).is_err() {
        std::process::abort();
    }
    0
}
