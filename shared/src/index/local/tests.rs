//! Laws of the local index that the contract of all vector stores does not have.

use super::nearest::{dot, unit};

#[test]
fn a_dot_product_counts_every_number() {
    for dimensions in [0, 1, 7, 8, 9, 384] {
        let vector = vec![0.5; dimensions];
        #[expect(clippy::cast_precision_loss, reason = "a small number")]
        let expected = 0.25 * dimensions as f32;
        assert!((dot(&vector, &vector) - expected).abs() < 1e-3);
    }
    assert_eq!(unit(&[3.0, 4.0]), [0.6, 0.8]);
    assert_eq!(unit(&[0.0, 0.0]), [0.0, 0.0]);
}
