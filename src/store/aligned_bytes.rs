//! Bytes of a file, aligned so that numbers can be read where they stand.
//!
//! A file enters; its bytes leave, as they were at one moment. They are a copy in memory: another program that shortens
//! or overwrites the file cannot change them, as it could those of a mapped file.

use std::io::{self, Read};

use zerocopy::IntoBytes;

/// Bytes whose first one stands where a number of 16 bytes may.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AlignedBytes {
    blocks: Vec<u128>,
    length: usize,
}

impl AlignedBytes {
    /// A copy of bytes.
    pub(crate) fn of(bytes: &[u8]) -> AlignedBytes {
        let mut aligned = AlignedBytes::zeros(bytes.len());
        aligned.blocks.as_mut_bytes()[..bytes.len()].copy_from_slice(bytes);
        aligned
    }

    /// Reads up to so many bytes. Fewer are there if the file became shorter meanwhile.
    pub(super) fn read(file: &mut impl Read, length: usize) -> io::Result<AlignedBytes> {
        let mut aligned = AlignedBytes::zeros(length);
        let mut rest = &mut aligned.blocks.as_mut_bytes()[..length];
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

    fn zeros(length: usize) -> AlignedBytes {
        AlignedBytes { blocks: vec![0; length.div_ceil(size_of::<u128>())], length }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.blocks.as_bytes()[..self.length]
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
        assert_eq!(AlignedBytes::of(text).bytes(), text);
    }
}
