"""Collective operations of jobs on hosts: steps of transfers, and their times with and without packets.

Jobs, the model of transfers, and packets of a simulation; the simulators are in `simulation`.
"""

from pipelines.network.collectives.jobs import COLLECTIVES, Job, read_job
from pipelines.network.collectives.transfers import Packets, TransferTimes, transfer_times

__all__ = ["COLLECTIVES", "Job", "Packets", "TransferTimes", "read_job", "transfer_times"]
