"""gRPC server reflection, as v1 and as v1alpha: tools of different ages ask for one or the other.

The two have the same messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import grpc
from google.protobuf import descriptor_pool, text_format
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from grpc_reflection.v1alpha import reflection, reflection_pb2
from grpc_reflection.v1alpha.reflection_pb2_grpc import add_ServerReflectionServicer_to_server

ALPHA = reflection.SERVICE_NAME
V1 = "grpc.reflection.v1.ServerReflection"


def add_reflection(names: Sequence[str], server: Any) -> None:
    """Let the server tell of these services and of reflection itself."""
    _describe_v1()
    servicer = reflection.aio.ReflectionServicer((*names, ALPHA, V1))
    add_ServerReflectionServicer_to_server(servicer, server)  # type: ignore[no-untyped-call]
    method = grpc.stream_stream_rpc_method_handler(
        servicer.ServerReflectionInfo,
        request_deserializer=reflection_pb2.ServerReflectionRequest.FromString,
        response_serializer=reflection_pb2.ServerReflectionResponse.SerializeToString,
    )
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(V1, {"ServerReflectionInfo": method}),))


@lru_cache(maxsize=1)
def _describe_v1() -> None:
    """Add the file of v1 to the pool: that of v1alpha, but for the name of its package."""
    alpha = FileDescriptorProto()
    reflection_pb2.DESCRIPTOR.CopyToProto(alpha)
    text = text_format.MessageToString(alpha).replace("v1alpha", "v1")
    descriptor_pool.Default().AddSerializedFile(text_format.Parse(text, FileDescriptorProto()).SerializeToString())
