"""Signs of life of worker and beat in Redis: a lost one only reads as not ready."""

import time

import redis

TIMEOUT_SECONDS = 2
PERIOD_SECONDS = 2.0
# The key's life is the longest silence that still counts as alive.
LIFE_SECONDS = 10
WORKER_KEY = "benchweb:heartbeat:worker"
BEAT_KEY = "benchweb:heartbeat:beat"


def client(redis_url: str) -> "redis.Redis":
    """Connect to the broker with the health check's time-outs."""
    return redis.Redis.from_url(redis_url, socket_timeout=TIMEOUT_SECONDS, socket_connect_timeout=TIMEOUT_SECONDS)


def beat_heart(broker: "redis.Redis", key: str) -> None:
    """Tell that the process behind `key` is alive."""
    try:
        broker.set(key, f"{time.time():.3f}", ex=LIFE_SECONDS)
    except redis.RedisError:
        return
