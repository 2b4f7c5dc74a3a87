//! Bytes of a file, aligned so that numbers can be read where they stand.
//!
//! A file enters; its bytes leave, as they were at one moment. They are a copy in memory of its own: another program that
//! shortens or overwrites the file cannot change them, as it could those of a mapped file.

use std::io::{self, Read};

use memmap2::MmapMut;

/// Bytes that begin a page of memory, and so where a number of any size may.
#[derive(Debug)]
pub struct AlignedBytes {
    /// Anonymous memory: no file is mapped.
    memory: MmapMut,
    length: usize,
}

impl AlignedBytes {
    /// A copy of bytes, one slice behind the other.
    ///
    /// # Errors
    ///
    /// When there is not enough memory.
    pub fn of(slices: &[&[u8]]) -> io::Result<AlignedBytes> {
        let mut aligned = AlignedBytes::zeros(slices.iter().map(|slice| slice.len()).sum())?;
        let mut rest = &mut aligned.memory[..];
        for slice in slices {
            let (start, behind) = rest.split_at_mut(slice.len());
            start.copy_from_slice(slice);
            rest = behind;
        }
        Ok(aligned)
    }

    /// Reads up to `length` bytes. The result has fewer if the file became shorter meanwhile.
    pub(super) fn read(file: &mut impl Read, length: usize) -> io::Result<AlignedBytes> {
        let mut aligned = AlignedBytes::zeros(length)?;
        let mut rest = &mut aligned.memory[..length];
        while !rest.is_empty() {
            match file.read(rest) {
                Ok(0) => break,
                Ok(count) => rest = &mut rest[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        aligned.length = length - rest.len();
        Ok(aligned)
    }

    fn zeros(length: usize) -> io::Result<AlignedBytes> {
        // At least one byte: no system maps nothing.
        let memory = MmapMut::map_anon(length.max(1))?;
        // Best effort: with pages of 2 MB, reading an index of 27 MB takes half of the time.
        #[cfg(target_os = "linux")]
        let _ = memory.advise(memmap2::Advice::HugePage);
        Ok(AlignedBytes { memory, length })
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.memory[..self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_as_far_as_it_goes() {
        let text = b"seventeen letters";
        for (length, expected) in [(17, 17), (16, 16), (0, 0), (40, 17)] {
            let aligned = AlignedBytes::read(&mut text.as_slice(), length).unwrap();
            assert_eq!(aligned.bytes(), &text[..expected]);
            assert_eq!(aligned.bytes().as_ptr() as usize % 16, 0);
        }
        assert_eq!(AlignedBytes::of(&[b"seventeen ", b"", b"letters"]).unwrap().bytes(), text);
        assert_eq!(AlignedBytes::of(&[]).unwrap().bytes(), b"");
    }
}
