#![expect(clippy::cast_precision_loss, reason = "small numbers")]

use super::*;

#[test]
fn weights_are_a_row_for_each_input_with_a_scale_for_each_output() {
    let linear = LinearWeights::quantized(&[0.5, -1.0, 0.0, 0.0, 4.0, 2.0], 2, vec![]);
    assert_eq!(linear.weights, [64, 0, 127, -127, 0, 64]);
    let scales = linear.scales;
    assert!((scales[0] - 1.0 / 127.0).abs() < 1e-9 && (scales[2] - 4.0 / 127.0).abs() < 1e-8);
}

#[test]
fn rounded_numbers_span_their_bounds_and_zero_is_exact() {
    let numbers: Vec<f32> = (0..64_u8).map(|step| f32::from(step) * 0.1 - 1.0).collect();
    let bounds = Bounds {
        min: -1.0,
        max: 5.3,
    };
    let mut bytes = Vec::new();
    let Rounded { bytes, scale, zero } = Rounded::new(&numbers, bounds, &mut bytes);
    assert_eq!((bytes[0], bytes[10], bytes[63]), (0, zero, 255));
    for (byte, number) in bytes.iter().zip(&numbers) {
        let rounded = (f32::from(*byte) - f32::from(zero)) * scale;
        assert!((rounded - number).abs() <= scale, "{rounded} {number}");
    }
}

/// Weights that depend on nothing but their place, about as large as those of a model.
fn made(count: usize, seed: usize) -> Vec<f32> {
    let places = (0..count).map(|place| (place * 7_919 + seed * 104_729) % 2_003);
    let numbers = places.map(|place| place as f32 / 10_000.0 - 0.1);
    numbers.collect()
}

const HIDDEN: usize = 64;
const HEADS: usize = 4;
const INNER: usize = 128;

fn norm(seed: usize) -> Norm {
    Norm {
        scale: made(HIDDEN, seed).iter().map(|scale| 1.0 + scale).collect(),
        bias: made(HIDDEN, seed + 1),
    }
}

fn linear(inputs: usize, outputs: usize, seed: usize) -> LinearWeights {
    let bias = made(outputs, seed + 1);
    LinearWeights::quantized(&made(inputs * outputs, seed), inputs, bias)
}

fn normalized(state: &[f32], norm: &Norm) -> Vec<f32> {
    let width = HIDDEN as f32;
    let mean = state.iter().sum::<f32>() / width;
    let variance = state.iter().map(|x| (x - mean).powi(2)).sum::<f32>() / width;
    let places = state.iter().zip(&norm.scale).zip(&norm.bias);
    let numbers = places.map(|((x, scale), bias)| (x - mean) / variance.sqrt() * scale + bias);
    numbers.collect()
}

fn applied(state: &[f32], linear: &LinearWeights) -> Vec<f32> {
    let outputs = linear.scales.len();
    let output = |output: usize| {
        let weights = linear.weights[output..].iter().step_by(outputs);
        let products = state.iter().zip(weights).map(|(x, w)| x * f32::from(*w));
        products.sum::<f32>() * linear.scales[output] + linear.bias[output]
    };
    (0..outputs).map(output).collect()
}

fn added(state: &[f32], other: &[f32]) -> Vec<f32> {
    state.iter().zip(other).map(|(a, b)| a + b).collect()
}

/// Computes the states as BERT's authors describe them, without rounding inputs.
fn reference(vectors: &[f32], weights: &[LinearWeights; 6], norms: &[Norm; 3]) -> Vec<f32> {
    const WIDTH: usize = HIDDEN / HEADS;
    let states = vectors.chunks(HIDDEN);
    let states: Vec<_> = states.map(|state| normalized(state, &norms[0])).collect();
    let [queries, keys, values] = [0, 1, 2].map(|map| -> Vec<Vec<f32>> {
        let map: &LinearWeights = &weights[map];
        states.iter().map(|state| applied(state, map)).collect()
    });
    let mut result = Vec::new();
    for (state, query) in states.iter().zip(&queries) {
        let mut mixed = vec![0.0; HIDDEN];
        for head in (0..HEADS).map(|head| head * WIDTH..(head + 1) * WIDTH) {
            let query = &query[head.clone()];
            let powers = keys.iter().map(|key| {
                let products = query.iter().zip(&key[head.clone()]).map(|(q, k)| q * k);
                (products.sum::<f32>() / (WIDTH as f32).sqrt()).exp()
            });
            let powers: Vec<f32> = powers.collect();
            let sum: f32 = powers.iter().sum();
            for (value, power) in values.iter().zip(&powers) {
                for place in head.clone() {
                    mixed[place] += value[place] * power / sum;
                }
            }
        }
        let state = normalized(&added(&applied(&mixed, &weights[3]), state), &norms[1]);
        let wide = applied(&state, &weights[4]).into_iter().map(|x| {
            let cubed = x + 0.044_715 * x.powi(3);
            0.5 * x * (1.0 + ((2.0 / std::f32::consts::PI).sqrt() * cubed).tanh())
        });
        let wide: Vec<f32> = wide.collect();
        let narrow = applied(&wide, &weights[5]);
        result.extend(normalized(&added(&narrow, &state), &norms[2]));
    }
    result
}

fn weights() -> [LinearWeights; 6] {
    [
        linear(HIDDEN, HIDDEN, 1),
        linear(HIDDEN, HIDDEN, 3),
        linear(HIDDEN, HIDDEN, 5),
        linear(HIDDEN, HIDDEN, 7),
        linear(HIDDEN, INNER, 9),
        linear(INNER, HIDDEN, 11),
    ]
}

fn norms() -> [Norm; 3] {
    [norm(20), norm(30), norm(40)]
}

/// 18 and more tokens do not fill whole vectors of scores.
#[test]
fn the_states_are_those_of_a_bert_layer() {
    let (weights, norms) = (weights(), norms());
    let vectors = made(35 * HIDDEN, 50);
    let encoder = encoder(&weights, &norms);
    for tokens in [2, 35, 16, 18] {
        let vectors = &vectors[..tokens * HIDDEN];
        let expected = reference(vectors, &weights, &norms);
        let states = encoder.states(vectors.to_vec()).unwrap();
        assert_eq!(states.len(), expected.len());
        for (place, (state, expected)) in states.iter().zip(&expected).enumerate() {
            assert!(
                (state - expected).abs() < 0.05,
                "{place}: {state} {expected}"
            );
        }
    }
}

fn encoder(weights: &[LinearWeights; 6], norms: &[Norm; 3]) -> Encoder {
    let copy = |norm: &Norm| Norm {
        scale: norm.scale.clone(),
        bias: norm.bias.clone(),
    };
    let map = |map: usize| Linear::joined(&weights[map..=map]).unwrap();
    Encoder {
        heads: HEADS,
        buffers: Mutex::default(),
        epsilon: 1e-12,
        norm: copy(&norms[0]),
        layers: vec![Layer {
            attention: Linear::joined(&weights[..3]).unwrap(),
            output: map(3),
            attention_norm: copy(&norms[1]),
            widen: map(4),
            narrow: map(5),
            norm: copy(&norms[2]),
        }],
    }
}

#[test]
fn weights_of_other_sizes_are_refused() {
    let sound = encoder(&weights(), &norms());
    assert_eq!(sound.checked(HIDDEN).err(), None);
    let damages: [fn(&mut Encoder); 9] = [
        |encoder| encoder.heads = 0,
        // Heads of 8 numbers.
        |encoder| encoder.heads = 8,
        |encoder| encoder.norm.scale.truncate(32),
        |encoder| encoder.norm.bias.clear(),
        |encoder| encoder.layers.clear(),
        |encoder| encoder.layers[0].norm.scale.push(1.0),
        |encoder| encoder.layers[0].attention_norm.bias.clear(),
        |encoder| encoder.layers[0].narrow = Linear::new(linear(HIDDEN, HIDDEN, 1)).unwrap(),
        |encoder| encoder.layers[0].widen = Linear::new(linear(HIDDEN, 32, 1)).unwrap(),
    ];
    for (number, damage) in damages.iter().enumerate() {
        let mut encoder = encoder(&weights(), &norms());
        damage(&mut encoder);
        assert!(encoder.checked(HIDDEN).is_err(), "{number}");
    }
    let sound = encoder(&weights(), &norms());
    assert!(sound.checked(2 * HIDDEN).is_err());
}

#[test]
fn a_linear_map_whose_numbers_do_not_fit_each_other_is_refused() {
    let damages: [fn(&mut LinearWeights); 4] = [
        |map| map.weights.truncate(100),
        |map| map.weights.clear(),
        |map| map.scales.clear(),
        |map| map.bias.truncate(1),
    ];
    for (number, damage) in damages.iter().enumerate() {
        let mut maps = weights();
        damage(&mut maps[1]);
        assert!(Linear::joined(&maps[..3]).is_err(), "{number}");
        let [_, map, ..] = maps;
        assert!(Linear::new(map).is_err(), "{number}");
    }
    assert!(Linear::joined(&[]).is_err());
}
