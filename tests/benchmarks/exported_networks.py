"""Trains small networks on scikit-learn's digits and exports them by torch, as users do.

python -m tests.benchmarks.exported_networks FOLDER
python -m tests.benchmarks.exported_networks examples --example
FOLDER: gets family_number.onnx, those of pipelines/accelerators/exported; numbers 0 and 1 are labelled for
calibration, number 2 of each family is held out. With --example it gets cnn_int8.onnx, a quantised network of
any batch, as in examples/.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn

from tests.benchmarks.harness import options_parser

_EPOCHS, _OPSET = 30, 17


class Residual(nn.Module):
    """Two convolutions and the way around them."""

    def __init__(self, inputs: int, outputs: int, stride: int = 1) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(),
            nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False),
            nn.BatchNorm2d(outputs),
        )
        self.around = (
            nn.Identity() if inputs == outputs and stride == 1 else nn.Conv2d(inputs, outputs, 1, stride)
        )

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.body(x) + self.around(x))


class Inverted(nn.Module):
    """Expansion, depthwise convolution, projection."""

    def __init__(self, inputs: int, outputs: int, *, expansion: int, stride: int = 1) -> None:
        super().__init__()
        wide = inputs * expansion
        first = [] if expansion == 1 else [nn.Conv2d(inputs, wide, 1), nn.BatchNorm2d(wide), nn.ReLU6()]
        self.body = nn.Sequential(
            *first,
            nn.Conv2d(wide, wide, 3, stride, 1, groups=wide, bias=False),
            nn.BatchNorm2d(wide),
            nn.ReLU6(),
            nn.Conv2d(wide, outputs, 1, bias=False),
            nn.BatchNorm2d(outputs),
        )
        self.is_residual = inputs == outputs and stride == 1

    def forward(self, x: Tensor) -> Tensor:
        return x + self.body(x) if self.is_residual else self.body(x)


class Encoder(nn.Module):
    """Attention and two dense layers, normalised behind each."""

    def __init__(self, tokens: int, width: int, heads: int, inner: int, activation: nn.Module) -> None:
        super().__init__()
        self.shape = (1, tokens, heads, width // heads)
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.dense = nn.Sequential(nn.Linear(width, inner), activation, nn.Linear(inner, width))

    def forward(self, x: Tensor) -> Tensor:
        batch, tokens, heads, size = len(x), *self.shape[1:]
        q, k, v = (f(x).reshape(batch, tokens, heads, size).transpose(1, 2) for f in (self.q, self.k, self.v))
        weights = torch.softmax(q @ k.transpose(2, 3) * size**-0.5, dim=-1)
        mixed = (weights @ v).transpose(1, 2).reshape(batch, tokens, heads * size)
        x = self.norms[0](x + self.out(mixed))
        return self.norms[1](x + self.dense(x))


class Tokens(nn.Module):
    """Rows of an image as tokens."""

    def __init__(self, tokens: int) -> None:
        super().__init__()
        self.tokens = tokens

    def forward(self, x: Tensor) -> Tensor:
        return x.reshape(len(x), self.tokens, 64 // self.tokens)


class MeanToken(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.mean(dim=1)


def _pool() -> nn.Module:
    return nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten())


def _encoders(tokens: int, width: int, heads: int, inner: int, kind: type[nn.Module]) -> nn.Module:
    encoder = Encoder(tokens, width, heads, inner, kind())
    return nn.Sequential(
        Tokens(tokens), nn.Linear(64 // tokens, width), encoder, MeanToken(), nn.Linear(width, 10)
    )


def _stem(width: int, stride: int, activation: type[nn.Module]) -> list[nn.Module]:
    return [nn.Conv2d(1, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), activation()]


def _lenet(first: nn.Conv2d, second: nn.Conv2d, dense: list[nn.Module]) -> nn.Module:
    layers = [first, nn.ReLU(), nn.MaxPool2d(2), second, nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), *dense]
    return nn.Sequential(*layers)


class Quantised(nn.Module):
    """A layer whose weights, per output, and results are rounded to 8 bits, as training for integers does."""

    def __init__(self, layer: nn.Conv2d | nn.Linear, images: Tensor) -> None:
        super().__init__()
        self.layer = layer
        steps = layer.weight.detach().abs().flatten(1).amax(dim=1) / 127
        self.register_buffer("steps", steps)
        self.register_buffer("zeros", torch.zeros(len(steps), dtype=torch.int32))
        self.step = float(layer(images).detach().abs().max()) / 127

    def forward(self, x: Tensor) -> Tensor:
        layer, steps, zeros = self.layer, self.get_buffer("steps"), self.get_buffer("zeros")
        weight = torch.fake_quantize_per_channel_affine(layer.weight, steps, zeros, 0, -128, 127)
        if isinstance(layer, nn.Conv2d):
            result = nn.functional.conv2d(x, weight, layer.bias, layer.stride, layer.padding)
        else:
            result = nn.functional.linear(x, weight, layer.bias)
        return torch.fake_quantize_per_tensor_affine(result, self.step, 0, -128, 127)


def quantised(network: nn.Sequential, images: Tensor) -> nn.Sequential:
    """A trained network with its convolutions and dense layers quantised one by one."""
    layers: list[nn.Module] = []
    for layer in network:
        is_product = isinstance(layer, nn.Conv2d | nn.Linear)
        layers.append(Quantised(layer, images) if is_product else layer)
        images = layers[-1](images)
    return nn.Sequential(*layers)


NETWORKS: dict[str, Callable[[], nn.Module]] = {
    "mlp_0": lambda: nn.Sequential(nn.Flatten(), nn.Linear(64, 16), nn.ReLU(), nn.Linear(16, 10)),
    "mlp_1": lambda: nn.Sequential(
        nn.AvgPool2d(2),
        nn.Flatten(),
        nn.Linear(16, 24),
        nn.ReLU(),
        nn.Dropout(0.1),
        nn.Linear(24, 12),
        nn.ReLU(),
        nn.Linear(12, 10),
    ),
    "mlp_2": lambda: nn.Sequential(
        nn.Flatten(), nn.Linear(64, 12), nn.ReLU(), nn.Linear(12, 12), nn.ReLU(), nn.Linear(12, 10)
    ),
    "cnn_0": lambda: _lenet(nn.Conv2d(1, 4, 3, 1, 1), nn.Conv2d(4, 6, 3, 1, 1), [nn.Linear(24, 10)]),
    "cnn_1": lambda: _lenet(
        nn.Conv2d(1, 3, 5, 1, 2),
        nn.Conv2d(3, 8, 3, 1, 1),
        [nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 10)],
    ),
    "cnn_2": lambda: _lenet(nn.Conv2d(1, 6, 3, 1, 1), nn.Conv2d(6, 8, 3, 1, 1), [nn.Linear(32, 10)]),
    "resnet_0": lambda: nn.Sequential(*_stem(4, 2, nn.ReLU), Residual(4, 4), _pool(), nn.Linear(4, 10)),
    "resnet_1": lambda: nn.Sequential(*_stem(4, 1, nn.ReLU), Residual(4, 8, 2), _pool(), nn.Linear(8, 10)),
    "resnet_2": lambda: nn.Sequential(*_stem(6, 2, nn.ReLU), Residual(6, 6), _pool(), nn.Linear(6, 10)),
    "mobilenet_0": lambda: nn.Sequential(
        *_stem(4, 2, nn.ReLU6), Inverted(4, 8, expansion=1), _pool(), nn.Linear(8, 10)
    ),
    "mobilenet_1": lambda: nn.Sequential(
        *_stem(4, 2, nn.ReLU6), Inverted(4, 4, expansion=2), _pool(), nn.Linear(4, 10)
    ),
    "mobilenet_2": lambda: nn.Sequential(
        *_stem(6, 2, nn.ReLU6),
        Inverted(6, 6, expansion=1),
        Inverted(6, 12, expansion=1, stride=2),
        _pool(),
        nn.Linear(12, 10),
    ),
    "transformer_0": lambda: _encoders(8, 8, 1, 16, nn.ReLU),
    "transformer_1": lambda: _encoders(4, 12, 2, 12, nn.ReLU),
    "transformer_2": lambda: _encoders(8, 12, 2, 16, nn.ReLU),
    "bert_0": lambda: _encoders(4, 8, 2, 32, nn.GELU),
    "bert_1": lambda: _encoders(8, 8, 1, 32, nn.GELU),
    "bert_2": lambda: _encoders(4, 16, 2, 32, nn.GELU),
}


def trained(name: str) -> nn.Module:
    """A network after `_EPOCHS` epochs."""
    torch.manual_seed(sorted(NETWORKS).index(name))
    network = NETWORKS[name]()
    pixels, digits = load_digits(return_X_y=True)
    images = torch.tensor(pixels / 16.0, dtype=torch.float32).reshape(-1, 1, 8, 8)
    classes = torch.tensor(digits)
    optimiser = torch.optim.Adam(network.parameters(), lr=5e-3)
    for _ in range(_EPOCHS):
        for chosen in torch.randperm(len(images)).split(64):
            optimiser.zero_grad()
            loss = nn.functional.cross_entropy(network(images[chosen]), classes[chosen])
            loss.backward()  # pyright: ignore[reportUnknownMemberType]
            optimiser.step()  # pyright: ignore[reportUnknownMemberType]
    network.eval()
    with torch.inference_mode():
        right = (network(images).argmax(dim=1) == classes).double().mean()
    print(f"{name}: {sum(p.numel() for p in network.parameters())} parameters, {right:.1%} of digits right")
    return network


def main() -> None:
    parser = options_parser(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--example", action="store_true")
    options = parser.parse_args()
    folder: Path = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    if options.example:
        export_example(folder / "cnn_int8.onnx")
        return
    for name in NETWORKS:
        path = folder / f"{name}.onnx"
        torch.onnx.export(trained(name), (torch.zeros(1, 1, 8, 8),), path, dynamo=False, opset_version=_OPSET)


def export_example(path: Path) -> None:
    """Export a quantised convolutional network of any batch, and say how often it is right."""
    network = trained("cnn_0")
    pixels, digits = load_digits(return_X_y=True)
    images = torch.tensor(pixels / 16.0, dtype=torch.float32).reshape(-1, 1, 8, 8)
    if not isinstance(network, nn.Sequential):
        raise TypeError(f"{type(network).__name__}; accepted: Sequential")
    integers = quantised(network, images)
    with torch.inference_mode():
        right = (integers(images).argmax(dim=1) == torch.tensor(digits)).double().mean()
    print(f"quantised: {right:.1%} of digits right")
    torch.onnx.export(
        integers,
        (torch.zeros(1, 1, 8, 8),),
        path,
        dynamo=False,
        opset_version=_OPSET,
        input_names=["image"],
        output_names=["classes"],
        dynamic_axes={"image": {0: "batch"}, "classes": {0: "batch"}},
    )


if __name__ == "__main__":
    main()
