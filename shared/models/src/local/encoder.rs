//! Builds a BERT encoder as an ONNX graph, for weights that are not published as ONNX.
//!
//! Weights are 8-bit numbers with one scale for each output, and inputs are quantised dynamically, as in the ONNX files of the other models. `rten`
//! recognises the patterns written here and runs them as single operators.

use std::cell::RefCell;

use rten_onnx::onnx::{
    AttributeProto, AttributeType, DataType, Dimension, GraphProto, ModelProto, NodeProto,
    OperatorSetIdProto, TensorProto, TensorShapeProto, TypeProto, TypeProtoTensor, ValueInfoProto,
};

/// The graph's input: a vector for each token, batch first.
pub(super) const INPUT: &str = "embeddings";

/// The ONNX operator set, the first with `Gelu`.
const OPERATORS: i64 = 20;
/// The ONNX file format version with this operator set.
const FORMAT: i64 = 9;

/// Weights and sizes of an encoder.
pub(super) struct Encoder {
    pub(super) hidden: usize,
    pub(super) heads: usize,
    /// Prevents division by zero in normalisation.
    pub(super) epsilon: f32,
    /// Normalises the input.
    pub(super) norm: Norm,
    pub(super) layers: Vec<Layer>,
}

/// A transformer layer: attention, then two linear maps with an activation between them.
pub(super) struct Layer {
    pub(super) query: Linear,
    pub(super) key: Linear,
    pub(super) value: Linear,
    pub(super) output: Linear,
    pub(super) attention_norm: Norm,
    pub(super) widen: Linear,
    pub(super) narrow: Linear,
    pub(super) norm: Norm,
}

/// Layer normalisation; both vectors are little-endian 32-bit floats.
pub(super) struct Norm {
    pub(super) scale: Vec<u8>,
    pub(super) bias: Vec<u8>,
}

/// A linear map.
pub(super) struct Linear {
    inputs: usize,
    /// Signed bytes, one row for each input.
    weights: Vec<u8>,
    /// Little-endian 32-bit floats, one for each output.
    scales: Vec<u8>,
    bias: Vec<u8>,
}

impl Linear {
    /// Quantises weights given row by row for each output; the largest of each output becomes ±127.
    pub(super) fn quantized(weights: &[f32], inputs: usize, bias: Vec<u8>) -> Self {
        const LARGEST: f32 = 127.0;
        let outputs = weights.len() / inputs;
        let mut quantized = vec![0; weights.len()];
        let mut scales = Vec::with_capacity(4 * outputs);
        for (output, row) in weights.chunks_exact(inputs).enumerate() {
            let largest = row.iter().fold(f32::MIN_POSITIVE, |largest, weight| {
                largest.max(weight.abs())
            });
            let scale = largest / LARGEST;
            for (input, weight) in row.iter().enumerate() {
                #[expect(clippy::cast_possible_truncation, reason = "at most ±127")]
                let weight = (weight / scale).round() as i8;
                quantized[input * outputs + output] = weight.cast_unsigned();
            }
            scales.extend(scale.to_le_bytes());
        }
        Self {
            inputs,
            weights: quantized,
            scales,
            bias,
        }
    }

    fn outputs(&self) -> usize {
        self.scales.len() / 4
    }
}

impl Encoder {
    /// Returns the graph as an ONNX file that outputs a state for each token.
    pub(super) fn into_onnx(self) -> Result<Vec<u8>, String> {
        let mut graph = Graph::default();
        let sizes = Sizes::new(&self, &mut graph);
        let mut states = graph.norm(INPUT, self.norm, sizes.epsilon);
        for layer in self.layers {
            states = graph.layer(&states, layer, &sizes);
        }
        graph.0.input = vec![states_info(INPUT, self.hidden)];
        graph.0.output = vec![states_info(&states, self.hidden)];
        let model = ModelProto {
            ir_version: Some(FORMAT),
            opset_import: vec![OperatorSetIdProto {
                domain: None,
                version: Some(OPERATORS),
            }],
            graph: Some(graph.0),
            ..ModelProto::default()
        };
        model.write_buf().map_err(|error| error.to_string())
    }
}

/// Names of the constants that all layers share, and sizes.
struct Sizes {
    epsilon: f32,
    /// The shape that splits a state into heads.
    split: String,
    /// The shape that joins the heads.
    joined: String,
    /// 1 / √(head size), which keeps products of long vectors small.
    attention_scale: String,
}

impl Sizes {
    fn new(encoder: &Encoder, graph: &mut Graph) -> Self {
        let head = encoder.hidden / encoder.heads;
        // In an ONNX shape, 0 keeps the existing size.
        let split = [0, 0, encoder.heads, head];
        let joined = [0, 0, encoder.hidden];
        #[expect(clippy::cast_precision_loss, reason = "some dozens")]
        let scale = 1.0 / (head as f32).sqrt();
        Self {
            epsilon: encoder.epsilon,
            split: graph.shape(&split),
            joined: graph.shape(&joined),
            attention_scale: graph.tensor(&[], DataType::FLOAT, scale.to_le_bytes().to_vec()),
        }
    }
}

/// Writes a graph; values are named by consecutive numbers.
#[derive(Default)]
struct Graph(GraphProto);

/// A value quantised to unsigned bytes.
struct Quantized {
    value: String,
    scale: String,
    zero: String,
}

impl Graph {
    fn layer(&mut self, states: &str, layer: Layer, sizes: &Sizes) -> String {
        let input = self.quantize(states);
        let query = self.heads(&input, layer.query, sizes, &[0, 2, 1, 3]);
        let key = self.heads(&input, layer.key, sizes, &[0, 2, 3, 1]);
        let value = self.heads(&input, layer.value, sizes, &[0, 2, 1, 3]);
        let scores = self.node("MatMul", &[&query, &key], vec![]);
        let scores = self.node("Mul", &[&scores, &sizes.attention_scale], vec![]);
        let shares = self.node("Softmax", &[&scores], vec![whole_number("axis", -1)]);
        let mixed = self.node("MatMul", &[&shares, &value], vec![]);
        let order = whole_numbers("perm", &[0, 2, 1, 3]);
        let mixed = self.node("Transpose", &[&mixed], vec![order]);
        let mixed = self.node("Reshape", &[&mixed, &sizes.joined], vec![]);
        let mixed = self.quantize(&mixed);
        let attention = self.linear(&mixed, layer.output);
        let states = self.node("Add", &[&attention, states], vec![]);
        let states = self.norm(&states, layer.attention_norm, sizes.epsilon);
        let input = self.quantize(&states);
        let wide = self.linear(&input, layer.widen);
        let wide = self.node("Gelu", &[&wide], vec![]);
        let wide = self.quantize(&wide);
        let narrow = self.linear(&wide, layer.narrow);
        let states = self.node("Add", &[&narrow, &states], vec![]);
        self.norm(&states, layer.norm, sizes.epsilon)
    }

    /// Adds a linear layer whose output is split into heads; `order` is that of the output's dimensions.
    fn heads(&mut self, input: &Quantized, linear: Linear, sizes: &Sizes, order: &[i64]) -> String {
        let value = self.linear(input, linear);
        let value = self.node("Reshape", &[&value, &sizes.split], vec![]);
        self.node("Transpose", &[&value], vec![whole_numbers("perm", order)])
    }

    fn norm(&mut self, input: &str, norm: Norm, epsilon: f32) -> String {
        let width = norm.scale.len() / 4;
        let scale = self.tensor(&[width], DataType::FLOAT, norm.scale);
        let bias = self.tensor(&[width], DataType::FLOAT, norm.bias);
        let epsilon = AttributeProto {
            f: Some(epsilon),
            ..attribute("epsilon", AttributeType::FLOAT)
        };
        let attributes = vec![whole_number("axis", -1), epsilon];
        self.node("LayerNormalization", &[input, &scale, &bias], attributes)
    }

    fn quantize(&mut self, input: &str) -> Quantized {
        let value = self.node("DynamicQuantizeLinear", &[input], vec![]);
        let (scale, zero) = (format!("{value}.scale"), format!("{value}.zero"));
        if let Some(node) = self.0.node.last_mut() {
            node.output.extend([scale.clone(), zero.clone()]);
        }
        Quantized { value, scale, zero }
    }

    fn linear(&mut self, input: &Quantized, linear: Linear) -> String {
        let (inputs, outputs) = (linear.inputs, linear.outputs());
        let weights = self.tensor(&[inputs, outputs], DataType::INT8, linear.weights);
        let zeros = self.tensor(&[outputs], DataType::INT8, vec![0; outputs]);
        let scales = self.tensor(&[outputs], DataType::FLOAT, linear.scales);
        let bias = self.tensor(&[outputs], DataType::FLOAT, linear.bias);
        let factors = [&*input.value, &*weights, &*input.zero, &*zeros];
        let product = self.node("MatMulInteger", &factors, vec![]);
        let to_float = whole_number("to", DataType::FLOAT.0.into());
        let product = self.node("Cast", &[&product], vec![to_float]);
        let scales = self.node("Mul", &[&input.scale, &scales], vec![]);
        let product = self.node("Mul", &[&product, &scales], vec![]);
        self.node("Add", &[&product, &bias], vec![])
    }

    /// Adds an operator; returns the name of its output.
    fn node(&mut self, operator: &str, inputs: &[&str], attribute: Vec<AttributeProto>) -> String {
        let output = format!("value{}", self.0.node.len());
        self.0.node.push(NodeProto {
            name: Some(output.clone()),
            input: inputs.iter().map(|&input| input.to_owned()).collect(),
            output: vec![output.clone()],
            op_type: Some(operator.to_owned()),
            attribute,
            ..NodeProto::default()
        });
        output
    }

    fn shape(&mut self, sizes: &[usize]) -> String {
        let bytes = sizes.iter().flat_map(|size| (*size as u64).to_le_bytes());
        self.tensor(&[sizes.len()], DataType::INT64, bytes.collect())
    }

    /// Adds a constant; returns its name.
    fn tensor(&mut self, shape: &[usize], data_type: DataType, bytes: Vec<u8>) -> String {
        let name = format!("constant{}", self.0.initializer.len());
        self.0.initializer.push(TensorProto {
            name: Some(name.clone()),
            dims: shape.iter().map(|size| to_i64(*size)).collect(),
            data_type: Some(data_type),
            raw_data: Some(RefCell::new(bytes)),
            ..TensorProto::default()
        });
        name
    }
}

/// Declares a value with a state of `width` numbers for each token.
fn states_info(name: &str, width: usize) -> ValueInfoProto {
    ValueInfoProto {
        name: Some(name.to_owned()),
        r#type: Some(TypeProto {
            tensor_type: Some(TypeProtoTensor {
                elem_type: Some(DataType::FLOAT),
                shape: Some(TensorShapeProto {
                    dim: vec![named("batch"), named("tokens"), sized(width)],
                }),
            }),
            sequence: None,
        }),
    }
}

fn attribute(name: &str, kind: AttributeType) -> AttributeProto {
    AttributeProto {
        name: Some(name.to_owned()),
        r#type: Some(kind),
        ..AttributeProto::default()
    }
}

fn whole_number(name: &str, number: i64) -> AttributeProto {
    AttributeProto {
        i: Some(number),
        ..attribute(name, AttributeType::INT)
    }
}

fn whole_numbers(name: &str, numbers: &[i64]) -> AttributeProto {
    AttributeProto {
        ints: numbers.to_vec(),
        ..attribute(name, AttributeType::INTS)
    }
}

fn named(name: &str) -> Dimension {
    Dimension {
        dim_param: Some(name.to_owned()),
        ..Dimension::default()
    }
}

fn sized(size: usize) -> Dimension {
    Dimension {
        dim_value: Some(to_i64(size)),
        ..Dimension::default()
    }
}

fn to_i64(size: usize) -> i64 {
    i64::try_from(size).expect("sizes of a model that fits the memory")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_a_row_for_each_input_with_a_scale_for_each_output() {
        let linear = Linear::quantized(&[0.5, -1.0, 0.0, 0.0, 4.0, 2.0], 2, vec![]);
        let weights: Vec<i8> = linear
            .weights
            .iter()
            .map(|byte| byte.cast_signed())
            .collect();
        assert_eq!(weights, [64, 0, 127, -127, 0, 64]);
        let scales: Vec<f32> = linear
            .scales
            .chunks_exact(4)
            .map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()))
            .collect();
        assert!((scales[0] - 1.0 / 127.0).abs() < 1e-9 && (scales[2] - 4.0 / 127.0).abs() < 1e-8);
    }
}
